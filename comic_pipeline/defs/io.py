"""Documents: each asset's typed JSON, one a project, on the object store. Media lie beside them and are never loaded here."""

import dagster as dg
from pydantic import BaseModel, ValidationError

from comic_pipeline.model.errors import StorageFault
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.stages.workshop import Workshop


def document_key(project_id: str, asset: str) -> str:
    """Where the document of one asset of one project lies."""
    return f"projects/{project_id}/documents/{asset}.json"


class DocumentIOManager(dg.IOManager):
    """Stores pydantic values as JSON and reads them back as the type that the input is annotated with."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    def handle_output(self, context: dg.OutputContext, obj: BaseModel) -> None:
        """Write the document. Raises Failure, not retried: the storage fault has outlived the retries of its own."""
        key = document_key(context.partition_key, context.asset_key.path[-1])
        try:
            self._workshop.objects.put(key, obj.model_dump_json(indent=1).encode(), mime="application/json")
        except StorageFault as fault:
            raise dg.Failure(description=str(fault), metadata={"error_code": fault.code.value}, allow_retries=False) from fault

    def load_input(self, context: dg.InputContext) -> BaseModel:
        """Read the document of the same project. Raises Failure naming what to make first."""
        asset = context.asset_key.path[-1]
        kind: type[BaseModel] = context.dagster_type.typing_type
        try:
            return kind.model_validate_json(self._workshop.objects.get(document_key(context.partition_key, asset)))
        except MissingObject as missing:
            raise dg.Failure(
                description=f"project {context.partition_key} has no {asset} yet: make it first", allow_retries=False
            ) from missing
        except (ValidationError, StorageFault) as broken:
            raise dg.Failure(
                description=f"the {asset} of project {context.partition_key} cannot be read: {broken}", allow_retries=False
            ) from broken


@dg.io_manager(required_resource_keys={"workshop"}, description="Typed JSON documents on the object store.")
def document_io_manager(context: dg.InitResourceContext) -> DocumentIOManager:
    """The IO manager of all assets."""
    return DocumentIOManager(context.resources.workshop)

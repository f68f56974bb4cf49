"""Who answers for which assets. Teams, not people: Dagster routes and shows them."""

STORY = "team:story"
PICTURES = "team:pictures"
SOUND = "team:sound"
FILM = "team:film"
OPERATIONS = "team:operations"
DATA = "team:data"

#!/bin/sh
# Makes the secret files that compose.yaml names, beside it; what is there already is kept.
# Keys and the webhook are empty files until somebody writes one in; operators and readers hold "name hash" lines, where the hash is
#   docker run --rm -it caddy:2.11-alpine caddy hash-password --algorithm argon2id
set -eu
umask 077
folder="${1:-$(dirname "$0")/secrets}"
mkdir -p "$folder"
# Closed to others by the folder; the files are open, because each is shown alone to a container's user who is not this one.
chmod 700 "$folder"

random() { head -c "$1" /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

keep() {  # NAME: standard input becomes the file, unless it is there
    [ -e "$folder/$1" ] || cat > "$folder/$1"
    chmod 644 "$folder/$1"
}

random 24 | keep database_password
random 24 | keep hash_salt
for name in ark_api_key openai_api_key openspeech_token webhook_url webhook_secret operators readers; do keep "$name" < /dev/null; done

if [ ! -e "$folder/s3_identities" ]; then
    id=$(random 8) key=$(random 24)
    printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$id" "$key" | keep s3_credentials
    printf '{"identities": [{"name": "comic", "credentials": [{"accessKey": "%s", "secretKey": "%s"}], "actions": ["Admin"]}]}\n' \
        "$id" "$key" | keep s3_identities
fi

# Whether the bundle of the clone $clone is newer than all that it was made from; the launchers of a clone read this.
# It goes by the time of change, which also a file that is put back with its old date gets anew.
[ -f "$clone/.cache/vidro/made" ] &&
  changed=$(find "$clone"/packages/*/src "$clone"/packages/*/package.json "$clone/packages/brain/agents" \
    "$clone/package-lock.json" "$clone/scripts/bundler/bundle.js" -cnewer "$clone/.cache/vidro/made" -print -quit 2>/dev/null) &&
  [ -z "$changed" ]

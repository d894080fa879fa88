#!/bin/sh
# Installs the Python package into a virtual environment of its own, as a user would, and runs its tests there.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
environment=$PWD/target/python
if ! "$python" -m venv "$environment" 2>/dev/null; then
    echo "python: $python cannot make virtual environments. On Debian: apt-get install python3-venv" >&2
    exit 1
fi
"$environment/bin/pip" install --quiet --disable-pip-version-check './python[test]'
"$environment/bin/mypy" --strict -p looptree
# Not from python/, nor as a module: the sources there have no compiled part.
exec "$environment/bin/pytest" -q python/tests "$@"

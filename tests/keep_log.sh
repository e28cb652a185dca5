#!/bin/sh
# SPDX-License-Identifier: MIT
# A compiler launcher: what the compiler says is kept beside the object file, for tests/budget.py.
before='' object=''
for argument; do
    if [ "$before" = -o ]; then object=$argument; fi
    before=$argument
done
[ -n "$object" ] || exec "$@"
"$@" >"$object.log" 2>&1
status=$?
cat "$object.log" >&2
exit $status

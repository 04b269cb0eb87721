#!/bin/sh
# Writes roselle-cpu/src/test/resources/assembler/golden.txt: each instruction form of the assembler's test, and the bytes
# that GNU as makes of it. Needs binutils and a compiled checkout (mvn test-compile).
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
classes=roselle-cpu/target/test-classes:roselle-cpu/target/classes
"${JAVA_HOME:?}"/bin/java -cp "$classes" roselle.cpu.machine.assembler.InstructionForms >"$folder/texts"
{
    echo '.intel_syntax noprefix'
    # each form begins with a mark that the bytes are split at
    awk '{ print ".ascii \"\\1\\2@\\3\\4<>\""; print }' "$folder/texts"
    echo '.ascii "\1\2@\3\4<>"'
} >"$folder/forms.s"
as -o "$folder/forms.o" "$folder/forms.s"
objcopy -O binary --only-section=.text "$folder/forms.o" "$folder/forms.bin"
xxd -p "$folder/forms.bin" | tr -d '\n' | sed 's/01024003043c3e/\n/g' | sed '1d' | sed '/^$/d' >"$folder/bytes"
paste "$folder/bytes" "$folder/texts" >roselle-cpu/src/test/resources/assembler/golden.txt
wc -l roselle-cpu/src/test/resources/assembler/golden.txt

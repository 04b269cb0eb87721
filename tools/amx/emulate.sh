#!/bin/sh
# Runs every routine of AMX tiles in Bochs, an emulator that knows them, and compares what they leave in memory with the
# scalar twin: for machines without AMX. Needs binutils, a compiled checkout (mvn test-compile), and Bochs 3.0 or newer:
#   ./configure --enable-x86-64 --enable-avx --enable-evex --enable-amx --with-nogui --disable-plugins && make
# Bochs as of August 2026 reads beyond the first operand of vcvtne2ps2bf16; in cpu/avx/avx512_bf16.cc, make it
# op1.vmm32u(n - DWORD_ELEMENTS(len)), or panels that are unpacked differ.
# Use: tools/amx/emulate.sh BOCHS
set -eu
bochs=${1:?the path of the Bochs program}
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
classes=roselle-cpu/target/test-classes:roselle-cpu/target/classes:roselle-engine/target/classes:roselle-api/target/classes
emulation() {
    "${JAVA_HOME:?}"/bin/java --enable-native-access=ALL-UNNAMED -cp "${AMX_CLASSES:-$classes}" \
        roselle.cpu.machine.amx.AmxEmulation "$@"
}
emulation write "$folder/image"
as -o "$folder/boot.o" tools/amx/boot.s
objcopy -O binary --only-section=.text "$folder/boot.o" "$folder/boot"
# a firmware of 2 MiB: the image, zeros, and what boots
truncate -s 2031616 "$folder/image"
cat "$folder/image" "$folder/boot" >"$folder/firmware"
head -c 512 /dev/zero >"$folder/none" # no firmware of a graphics card
cat >"$folder/configuration" <<END
config_interface: textconfig
display_library: nogui
romimage: file=$folder/firmware, address=0xffe00000
vgaromimage: file=$folder/none
cpu: model=sapphire_rapids
memory: guest=64, host=64
port_e9_hack: enabled=1
log: $folder/log
clock: sync=none
END
BXSHARE=$folder "$bochs" -q -f "$folder/configuration" </dev/null >"$folder/said" 2>"$folder/errors" || true
grep -E ' (initialized CPU model|>>PANIC<<)' "$folder/log" | grep -v 'Shutdown port' | sed 's/^[^]]*\] //'
# Bochs says a few lines first; what the routines left is behind them
tail -c "$(emulation size)" "$folder/said" >"$folder/dump"
emulation check "$folder/dump"

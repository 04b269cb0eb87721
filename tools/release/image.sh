#!/bin/sh
# Makes a container image without a daemon and without a registry: tools/release/image.sh [FOLDER]
# FOLDER (default target/archives) gets roselle-VERSION-oci.tar, an OCI layout for `podman load`, `docker load` or
# `skopeo copy oci-archive:...`. It holds the archive of linux-x64 (made if it is not in FOLDER) and this machine's C library,
# which is all that the run time links to: no shell, no packages. It runs as user 65532.
set -eu
cd "$(dirname "$0")/../.."
. tools/release/common.sh
folder=$(absolute "${1:-target/archives}")
version=$(tools/release/version.sh)
moment=$(release_time)
name=roselle-$version-linux-x64
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail 69 "the image takes its C library from a Linux on x64; this is $(uname -sm)"
[ -d "$folder/$name/runtime" ] || tools/release/archive.sh linux-x64 "$folder" >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
layout=$work/layout
mkdir -p "$work/system/opt" "$work/system/etc" "$work/system/tmp" "$work/system/lib64" "$work/system/proc" "$work/system/sys" \
    "$work/system/dev" "$work/home/var/lib/roselle" \
    "$layout/blobs/sha256"
for library in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2; do
    for place in /lib64 /lib/x86_64-linux-gnu /usr/lib64; do
        [ ! -e "$place/$library" ] || { cp -L "$place/$library" "$work/system/lib64/$library" && break; }
    done
    [ -e "$work/system/lib64/$library" ] || fail 66 "this machine has no $library, which the image needs"
done
cp -R "$folder/$name" "$work/system/opt/roselle"
echo 'root:x:0:0::/:
roselle:x:65532:65532::/var/lib/roselle:' >"$work/system/etc/passwd"
echo 'root:x:0:
roselle:x:65532:' >"$work/system/etc/group"
echo 'hosts: files dns' >"$work/system/etc/nsswitch.conf"
chmod -R a+rX "$work/system"
chmod 1777 "$work/system/tmp"

blob() { # file; moves it to where its hash says, and prints that and its size as a descriptor's two fields
    hash=$(sha256sum "$1" | cut -d ' ' -f 1)
    printf '"digest": "sha256:%s", "size": %s' "$hash" "$(wc -c <"$1")"
    mv "$1" "$layout/blobs/sha256/$hash"
}

layer() { # folder, owner; adds to the lists of layers and of their contents' hashes
    tar --sort=name --mtime="$moment" --owner="$2" --group="$2" --numeric-owner --format=ustar -C "$1" -cf "$work/layer" .
    hashes="${hashes:+$hashes, }\"sha256:$(sha256sum "$work/layer" | cut -d ' ' -f 1)\""
    gzip -9n "$work/layer"
    layers="${layers:+$layers, }{\"mediaType\": \"application/vnd.oci.image.layer.v1.tar+gzip\", $(blob "$work/layer.gz")}"
}
hashes='' layers=''
layer "$work/system" 0
layer "$work/home" 65532

cat >"$work/config" <<JSON
{"created": "$moment", "architecture": "amd64", "os": "linux",
 "config": {
  "User": "65532:65532", "WorkingDir": "/var/lib/roselle", "ExposedPorts": {"8000/tcp": {}},
  "Env": ["PATH=/opt/roselle/runtime/bin", "HOME=/var/lib/roselle", "LC_ALL=C.UTF-8",
   "LD_LIBRARY_PATH=/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib64", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"],
  "Entrypoint": ["/opt/roselle/runtime/bin/java", "@/opt/roselle/java.options", "-p", "/opt/roselle/lib",
   "-m", "roselle.cli/roselle.cli.Main"],
  "Cmd": ["--help"],
  "Labels": {"org.opencontainers.image.title": "Roselle", "org.opencontainers.image.version": "$version",
   "org.opencontainers.image.licenses": "Apache-2.0"}},
 "rootfs": {"type": "layers", "diff_ids": [$hashes]}}
JSON
config=$(blob "$work/config")
cat >"$work/manifest" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
 "config": {"mediaType": "application/vnd.oci.image.config.v1+json", $config},
 "layers": [$layers]}
JSON
manifest=$(blob "$work/manifest")
cat >"$layout/index.json" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
 "manifests": [{"mediaType": "application/vnd.oci.image.manifest.v1+json", $manifest,
  "platform": {"architecture": "amd64", "os": "linux"},
  "annotations": {"org.opencontainers.image.ref.name": "roselle:$version", "io.containerd.image.name": "roselle:$version"}}]}
JSON
printf '{"imageLayoutVersion": "1.0.0"}' >"$layout/oci-layout"
tar --sort=name --mtime="$moment" --owner=0 --group=0 --numeric-owner --format=ustar -C "$layout" \
    -cf "$folder/roselle-$version-oci.tar" .
echo "$folder/roselle-$version-oci.tar"

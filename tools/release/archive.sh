#!/bin/sh
# Makes an archive to unpack and run: tools/release/archive.sh [PLATFORM] [FOLDER]
#   PLATFORM  linux-x64, linux-aarch64, macos-x64, macos-aarch64, windows-x64: with a run time of its own, made of the JDK that
#             TARGET_JDK names (that platform's, with its jmods, or what jmods.sh makes), or of JAVA_HOME's where it is this
#             machine's platform;
#             "portable" (default): without a run time, for any JDK 25 or newer
#   FOLDER    where to put it (default target/archives)
# JARS names a folder with roselle-cli's jar and lib; without it they are built.
set -eu
cd "$(dirname "$0")/../.."
. tools/release/common.sh
platform=${1:-portable}
folder=$(absolute "${2:-target/archives}")
version=$(tools/release/version.sh)
case $platform in
    portable | linux-x64 | linux-aarch64 | macos-x64 | macos-aarch64 | windows-x64) ;;
    *) fail 2 "there is no platform $platform: see the head of tools/release/archive.sh" ;;
esac

case $(uname -s)-$(uname -m) in
    Linux-x86_64) here=linux-x64 ;;
    Linux-aarch64) here=linux-aarch64 ;;
    Darwin-x86_64) here=macos-x64 ;;
    Darwin-arm64) here=macos-aarch64 ;;
    *) here=unknown ;;
esac
target_jdk=${TARGET_JDK-}
if [ "$platform" != portable ] && [ -z "$target_jdk" ]; then
    [ "$platform" = "$here" ] || fail 66 "TARGET_JDK names no JDK of $platform; without one there is the archive \"portable\""
    target_jdk=$(jdk)
elif [ "$platform" != portable ] && [ "$platform" != "$here" ] && [ ! -d "$target_jdk/jmods" ]; then
    fail 66 "$target_jdk has no jmods, which a run time of another platform is made of"
fi

jars=${JARS-}
if [ -z "$jars" ]; then
    jars=roselle-cli/target/release
    rm -rf "$jars"
    "$(maven)" -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dbuild.folder=target/release \
        -pl roselle-cli -am package
fi
[ -f "$jars/roselle-cli-$version.jar" ] || fail 66 "$jars has no roselle-cli-$version.jar"

name=roselle-$version-$platform
mkdir -p "$folder"
rm -rf "${folder:?}/$name"
mkdir -p "$folder/$name/lib"
cp "$jars/roselle-cli-$version.jar" "$jars"/lib/*.jar "$folder/$name/lib"
cp roselle LICENSE NOTICE CHANGELOG.md "$folder/$name"
cp tools/release/java.options "$folder/$name"
sed 's/\r*$/\r/' tools/release/roselle.cmd >"$folder/$name/roselle.cmd"
sed "s/@PLATFORM@/$platform/; s/@VERSION@/$version/" tools/release/archive-readme.md >"$folder/$name/README.md"

if [ "$platform" != portable ]; then
    # What the jars need, and what people need to look into a process (jcmd).
    modules=$("$(jdk)/bin/jdeps" --multi-release 25 --ignore-missing-deps --print-module-deps --recursive \
        --module-path "$folder/$name/lib" "$folder/$name"/lib/*.jar 2>/dev/null | tail -n 1),jdk.jcmd,jdk.zipfs
    modules_from=
    [ ! -d "$target_jdk/jmods" ] || modules_from="--module-path $target_jdk/jmods"
    strip=--strip-java-debug-attributes # objcopy of here does not know what other systems run
    case $platform in linux-*) strip=--strip-debug ;; esac
    # shellcheck disable=SC2086 # an option and its argument
    "$(jdk)/bin/jlink" $modules_from --add-modules "$modules" $strip --no-header-files --no-man-pages \
        --exclude-files '**.debuginfo,**.diz,**.pdb' --output "$folder/$name/runtime" >&2
fi
chmod -R u+w,a+rX "$folder/$name"

case $platform in
    windows-*) pack_zip "$folder/$name" "$folder/$name.zip" && echo "$folder/$name.zip" ;;
    *) pack_tar "$folder" "$name" "$folder/$name.tar.gz" && echo "$folder/$name.tar.gz" ;;
esac

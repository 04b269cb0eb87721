#!/bin/sh
# Makes modules for jlink (jmods) of run-time images that came without: tools/release/jmods.sh FOLDER IMAGE [IMAGE]
#   FOLDER  gets jmods, and release as the first image has it: what archive.sh takes as TARGET_JDK
#   IMAGE   a run-time image of any platform, as jlink made it; the second one gives the modules that the first lacks, of which
#           classes alone where it is of another platform. Both are of one update of JAVA_HOME's feature release.
# Native files, settings and licences are given to the module that they lie in here (JAVA_HOME), else to java.base; what jlink
# made for the image (its list of modules, hashes of them) is left out, and made anew.
set -eu
cd "$(dirname "$0")/../.."
. tools/release/common.sh
[ $# = 2 ] || [ $# = 3 ] || fail 2 "usage: tools/release/jmods.sh FOLDER IMAGE [IMAGE]"
folder=$(absolute "$1")
shift
java=$(jdk)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

value() { # key, image
    sed -n "s/^$1=\"\(.*\)\"\$/\1/p" "$2/release"
}
for image; do
    [ -f "$image/lib/modules" ] && [ -f "$image/release" ] || fail 66 "$image is no run-time image: it has no lib/modules or no release"
done
version=$(value JAVA_VERSION "$1")
[ $# = 1 ] || [ "$(value JAVA_VERSION "$2")" = "$version" ] ||
    fail 65 "$1 is Java $version, and $2 is $(value JAVA_VERSION "$2")"

# Which module a file belongs to, as this JDK has it: "name module" lines, without what platforms name differently.
plain() { # file names, to names without folder, "lib" and ending
    sed -E 's|.*/||; s/^lib//; s/\.(so|dll|dylib|exe)$//'
}
"$java/bin/jimage" extract --dir "$work/own" --include 'regex:.*/runtimelink/fs_.*_files' "$java/lib/modules"
lists=$work/own/jdk.jlink/jdk/tools/jlink/internal/runtimelink
[ -d "$lists" ] || fail 66 "$java does not say which files its modules have: take a JDK that came without jmods"
for list in "$lists"/fs_*_files; do
    module=${list##*/fs_}
    cut -d '|' -f 4 "$list" | grep -E '^(bin|lib|conf)/' | plain | sed "s/\$/ ${module%_files}/" || :
done >"$work/owners"
printf 'sleef jdk.incubator.vector\n' >>"$work/owners" # which this processor has no use for

owner() { # path
    awk -v name="$(printf '%s\n' "$1" | plain)" '$1 == name { print $2; exit }' "$work/owners"
}

# Gives the files of a folder of an image to its modules; of a second image those of the modules that it gives.
share() { # image, kind, folder, files that are meant
    [ -d "$1/$3" ] || return 0
    (set -f && cd "$1/$3" && find . -type f ${4-} ! -path ./modules ! -name '*.jsa') | sed 's|^\./||' | while read -r file; do
        module=$(owner "$file")
        [ -n "$module" ] || module=java.base
        if ! grep -qx "$module" "$work/added"; then
            [ "$1" = "$first" ] || continue
            module=java.base
        fi
        mkdir -p "$(dirname "$work/$2/$module/$file")"
        cp "$1/$3/$file" "$work/$2/$module/$file"
    done
}

# Takes hashes of other modules, and the platform, out of a module's description; prints the platform.
cat >"$work/Description.java" <<'JAVA'
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.attribute.ModuleHashesAttribute;
import java.lang.classfile.attribute.ModuleTargetAttribute;
import java.nio.file.Files;
import java.nio.file.Path;

final class Description {
    public static void main(String[] arguments) throws java.io.IOException {
        for (String argument : arguments) {
            Path file = Path.of(argument, "module-info.class");
            var format = ClassFile.of();
            var module = format.parse(file);
            module.findAttribute(Attributes.moduleTarget()).ifPresent(found -> System.out.println(found.targetPlatform()));
            var kept = ClassTransform.dropping(
                    part -> part instanceof ModuleHashesAttribute || part instanceof ModuleTargetAttribute);
            Files.write(file, format.transformClass(module, kept));
        }
    }
}
JAVA

first=$1
platform=
mkdir -p "$work/classes" "$folder/jmods"
rm -f "$folder"/jmods/*.jmod
for image; do
    "$java/bin/jimage" extract --dir "$work/image" "$image/lib/modules"
    : >"$work/added"
    own=$("$java/bin/java" "$work/Description.java" "$work"/image/* | sort -u)
    platform=${platform:-$own}
    for module in "$work"/image/*; do
        name=${module##*/}
        [ ! -d "$work/classes/$name" ] || continue
        mv "$module" "$work/classes/$name"
        echo "$name" >>"$work/added"
        [ ! -d "$image/legal/$name" ] || { mkdir -p "$work/legal" && cp -RL "$image/legal/$name" "$work/legal/$name"; }
    done
    rm -rf "$work/image"
    [ "$own" = "$platform" ] || continue # what its modules have beside classes is for another
    if [ -f "$image/bin/java.exe" ]; then
        share "$image" commands bin '-name *.exe'
        share "$image" natives bin '-name *.dll'
    else
        share "$image" commands bin
    fi
    share "$image" natives lib
    share "$image" settings conf
done

base=$work/classes/java.base
find "$base/java/lang/invoke" -name 'BoundMethodHandle$Species_*.class' ! -name 'BoundMethodHandle$Species_L.class' -delete
find "$base/jdk/internal/module" -name 'SystemModules$*.class' -delete

for classes in "$work"/classes/*; do
    module=${classes##*/}
    set -- --class-path "$classes" --target-platform "$platform"
    [ ! -d "$work/commands/$module" ] || set -- "$@" --cmds "$work/commands/$module"
    [ ! -d "$work/natives/$module" ] || set -- "$@" --libs "$work/natives/$module"
    [ ! -d "$work/settings/$module" ] || set -- "$@" --config "$work/settings/$module"
    [ ! -d "$work/legal/$module" ] || set -- "$@" --legal-notices "$work/legal/$module"
    "$java/bin/jmod" create "$@" "$folder/jmods/$module.jmod"
done
cp "$first/release" "$folder/release"
echo "$folder"

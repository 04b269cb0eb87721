# shellcheck shell=sh
# What the programs of this folder share; read by them, in the root of the checkout.

fail() { # status, sentence
    printf '%s: %s\n' "${0##*/}" "$2" >&2
    exit "$1"
}

absolute() { # path
    case $1 in
        /*) printf '%s\n' "$1" ;;
        *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}

jdk() { # prints the folder of the JDK that builds
    [ -n "${JAVA_HOME-}" ] && [ -x "$JAVA_HOME/bin/javac" ] || fail 66 "JAVA_HOME is not a JDK: set it to a JDK 25 or newer"
    printf '%s\n' "$JAVA_HOME"
}

maven() { # prints the Maven that builds
    command -v mvn || absolute mvnw
}

# The moment that all files of a release bear, so that who builds it again gets the same bytes.
release_time() {
    sed -n 's|.*<project.build.outputTimestamp>\(.*\)</project.build.outputTimestamp>.*|\1|p' pom.xml
}

pack_tar() { # parent folder, name of the folder in it, archive
    tar --sort=name --mtime="$(release_time)" --owner=0 --group=0 --numeric-owner --format=ustar -C "$1" -cf - "$2" |
        gzip -9n >"$3"
}

pack_zip() { # folder whose files are packed, archive
    moment=$(release_time)
    jar=$(jdk)/bin/jar
    (
        cd "$1"
        find . -type f | sed 's|^\./||' | LC_ALL=C sort >"$2.list"
        "$jar" --create --no-manifest --date="$moment" --file="$2" "@$2.list"
    )
    rm -f "$2.list"
}

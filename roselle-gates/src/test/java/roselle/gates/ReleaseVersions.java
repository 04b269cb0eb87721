package roselle.gates;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The one version of all modules, and where a file tells another one; {@code tools/release/set-version.sh} sets it. */
final class ReleaseVersions {
    /** A version behind an artifact of ours, in Maven's form and in the short one. */
    private static final Pattern OURS =
            Pattern.compile("<artifactId>roselle[a-z0-9-]*</artifactId>\\s*<version>([0-9][^<]*)</version>"
                    + "|roselle[a-z0-9-]*:([0-9]+\\.[0-9]+\\.[0-9][\\w.-]*)"
                    + "|<roselle\\.version>([^<]*)</roselle\\.version>"
                    + "|(?m:^(?:version|appVersion|    newTag): (.*)$)");

    private static final Pattern PARENT =
            Pattern.compile("<artifactId>roselle-parent</artifactId>\\s*<version>([^<]+)</version>");

    private ReleaseVersions() {}

    static String ofThisBuild(SourceTree tree) {
        var matcher = PARENT.matcher(tree.text(Path.of("pom.xml")));
        if (!matcher.find()) {
            throw new IllegalStateException("pom.xml has no version behind roselle-parent");
        }
        return matcher.group(1);
    }

    /** One line for each version of ours, in build files, guides and examples, that is not {@code version}. */
    static List<String> others(SourceTree tree, String version) {
        return tree.files().stream()
                .filter(ReleaseVersions::tellsVersions)
                .flatMap(file -> OURS.matcher(tree.text(file))
                        .results()
                        .flatMap(found -> Stream.of(found.group(1), found.group(2), found.group(3), found.group(4)))
                        .filter(found -> found != null && !found.equals(version))
                        .map(found -> file + " has version " + found + ", the build " + version
                                + ": run tools/release/set-version.sh"))
                .toList();
    }

    private static boolean tellsVersions(Path file) {
        return file.endsWith("pom.xml")
                || file.startsWith("docs/guide")
                || file.startsWith("examples")
                || file.startsWith("deploy/kustomize")
                || file.startsWith("deploy/kserve")
                || file.endsWith("Chart.yaml");
    }
}

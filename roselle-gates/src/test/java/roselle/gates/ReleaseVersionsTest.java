package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReleaseVersionsTest {
    private static final String POM = """
            <project><artifactId>roselle-parent</artifactId>
            <version>1.2.3</version></project>
            """;

    @Test
    void allFilesTellOneVersion() {
        SourceTree project = SourceTree.ofThisProject();
        assertThat(ReleaseVersions.others(project, ReleaseVersions.ofThisBuild(project)))
                .isEmpty();
    }

    @Test
    void findsAVersionThatStayedBehind(@TempDir Path folder) throws IOException {
        Files.createDirectories(folder.resolve("docs/guide"));
        Files.writeString(folder.resolve("pom.xml"), POM);
        Files.writeString(folder.resolve("docs/guide/a.md"), "io.github.roselle:roselle:1.2.2");
        var planted = new SourceTree(folder);
        assertThat(ReleaseVersions.others(planted, ReleaseVersions.ofThisBuild(planted)))
                .singleElement()
                .asString()
                .contains("a.md has version 1.2.2, the build 1.2.3");
    }

    @Test
    void saysThatTheBuildHasNoVersion(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("pom.xml"), "<project/>");
        assertThatThrownBy(() -> ReleaseVersions.ofThisBuild(new SourceTree(folder)))
                .hasMessageContaining("no version");
    }
}

package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table of packages agrees with the packages, and each way to disagree is found. */
final class PackageTableTest {
    private static final String ROW = "| 0 | `api` * | What a caller says, `exactly`. |\n";
    private static final String INFO = """
            /**
             * What a caller says,
             * {@code exactly}. And a second sentence.
             */
            @NullMarked
            package roselle.api;
            """;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void theTableAgreesWithThePackages() {
        assertThat(PackageTable.violations(SourceTree.ofThisProject())).isEmpty();
    }

    @Test
    void everyPackageDescribesItselfAndForbidsNull() {
        assertThat(PackageTable.undescribed(SourceTree.ofThisProject())).isEmpty();
    }

    @Test
    void acceptsATableThatAgrees() throws IOException {
        assertThat(PackageTable.violations(project(ROW, INFO))).isEmpty();
    }

    @Test
    void findsAChangedSentence() throws IOException {
        assertThat(PackageTable.violations(project(ROW, INFO.replace("says", "hears"))))
                .singleElement()
                .asString()
                .endsWith("must read: | layer | `api` | What a caller hears, exactly. |");
    }

    @Test
    void findsAMissingRow() throws IOException {
        assertThat(PackageTable.violations(project("", INFO))).hasSize(1);
    }

    @Test
    void findsARowWithoutAPackage() throws IOException {
        assertThat(PackageTable.violations(project(ROW + "| 9 | `attic` | Old things. |\n", INFO)))
                .singleElement()
                .asString()
                .contains("attic has a row");
    }

    @Test
    void findsAPackageWithoutDescription() throws IOException {
        Path source = folder.resolve("roselle-x/src/main/java/roselle/attic/Old.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, "package roselle.attic; class Old {}");
        assertThat(PackageTable.undescribed(project(ROW, INFO)))
                .singleElement()
                .asString()
                .contains("attic");
    }

    @Test
    void findsAPackageThatAllowsNull() throws IOException {
        assertThat(PackageTable.undescribed(project(ROW, INFO.replace("@NullMarked", ""))))
                .hasSize(1);
    }

    private SourceTree project(String rows, String info) throws IOException {
        Path document = folder.resolve(PackageTable.DOCUMENT);
        Files.createDirectories(document.getParent());
        Files.writeString(document, "| layer | package | purpose |\n|---|---|---|\n" + rows);
        Path source = folder.resolve("roselle-x/src/main/java/roselle/api/package-info.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, info);
        return new SourceTree(folder);
    }
}

package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages that say where things are name classes as they are, and each that has moved is found. */
final class ClassNamesTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void eachClassIsWhereThePagesSay() {
        SourceTree tree = SourceTree.ofThisProject();
        Set<String> classes = ClassNames.all(tree);

        for (Path page : ClassNames.PAGES) {
            assertThat(ClassNames.unknown(tree, page, classes)).isEmpty();
        }
    }

    @Test
    void findsAClassThatHasMoved() throws IOException {
        Path page = Path.of("page.md");
        Files.writeString(
                folder.resolve(page),
                "`Chair.sit` of the `attic.Chair`, not `cellar.Chair`; `Table` → `Chair`, `CHAIR`, `chair.cu`");

        assertThat(ClassNames.unknown(new SourceTree(folder), page, Set.of(".roselle.attic.Chair")))
                .containsExactly("page.md names cellar.Chair", "page.md names Table");
    }
}

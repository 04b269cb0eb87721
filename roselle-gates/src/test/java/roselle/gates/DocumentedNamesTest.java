package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Documents name classes that are there, and a name that is not is found. */
final class DocumentedNamesTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void documentsNameClassesThatAreThere() {
        assertThat(DocumentedNames.violations(SourceTree.ofThisProject())).isEmpty();
    }

    @Test
    void findsTheNameOfAClassThatHasMoved() throws IOException {
        assertThat(DocumentedNames.violations(project("pages, `kvcache.Tree`\nand `roselle.kvcache.tree.Old.find`")))
                .containsExactly(
                        "words.md:1: there is no class roselle.kvcache.Tree",
                        "words.md:2: there is no class roselle.kvcache.tree.Old");
    }

    @Test
    void acceptsClassesTheirMembersAndWhatIsNoClassOfOurs() throws IOException {
        String text =
                "`kvcache.tree.Tree.find`, `roselle.kvcache.tree.Tree`, `java.util.List`, kvcache.Tree, `tree/kvcache.Tree`";
        assertThat(DocumentedNames.violations(project(text))).isEmpty();
    }

    private SourceTree project(String document) throws IOException {
        Path source = folder.resolve("roselle-x/src/main/java/roselle/kvcache/tree/Tree.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, "package roselle.kvcache.tree; class Tree {}");
        Files.writeString(folder.resolve("words.md"), document);
        return new SourceTree(folder);
    }
}

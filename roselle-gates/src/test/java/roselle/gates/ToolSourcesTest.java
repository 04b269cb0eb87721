package roselle.gates;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs of {@code tools} in Java, which no build compiles, are written against the classes as they are. */
final class ToolSourcesTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void eachCompiles() {
        List<Path> programs = SourceTree.ofThisProject().files().stream()
                .filter(file -> file.startsWith("tools") && file.toString().endsWith(".java"))
                .map(SourceTree.ofThisProject().root()::resolve)
                .toList();

        assertThat(programs).isNotEmpty();
        for (Path program : programs) {
            assertThat(complaints(program)).as("%s", program.getFileName()).isEmpty();
        }
    }

    @Test
    void findsAClassThatHasMoved() throws IOException {
        Path program = folder.resolve("Old.java");
        Files.writeString(program, "import roselle.attic.Chair;\nfinal class Old {}\n");

        assertThat(complaints(program)).contains("package roselle.attic does not exist");
    }

    private String complaints(Path program) {
        var said = new ByteArrayOutputStream();
        String[] arguments = {
            "-nowarn",
            "-proc:none",
            "-d",
            folder.toString(),
            "-classpath",
            System.getProperty("java.class.path"),
            program.toString()
        };
        ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments);
        return said.toString(UTF_8);
    }
}

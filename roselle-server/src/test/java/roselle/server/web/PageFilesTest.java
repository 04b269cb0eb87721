package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The files of the page: all are served, and those of others are as they were published. */
final class PageFilesTest {
    private static final Path FOLDER = Path.of("src/main/web");

    @Test
    void servesEachFile() throws IOException {
        try (var files = Files.walk(FOLDER)) {
            assertThat(files.filter(Files::isRegularFile)
                            .map(file -> FOLDER.relativize(file).toString().replace('\\', '/')))
                    .containsExactlyInAnyOrderElementsOf(PageFiles.NAMES);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            highlight-11.12.0/highlight.min.js | 1ed8fc5256b738b8875b74e4d3f0754f60d6411fb034d618dfbc4e6e6c9999d7
            highlight-11.12.0/LICENSE          | 6c081431591d9df696c82dc598fe1423765b8a299b200ed00b281afd0f64c490
            temml-0.13.5/temml.min.js          | 1ab19148afe0dbc836b7a74f344071b3f3a70a7a8259ae4049e76894fcdf8d95
            temml-0.13.5/Temml-Local.css       | 544f4e3fee4c36f4568e4f145fa626dc9573c5f4c96c523aadcc433c3989a239
            temml-0.13.5/Temml.woff2           | fc70501355ae6d38ff0b80f825af153557d5f2f474198d6b9b7dd2d3a291a0cc
            temml-0.13.5/LICENSE               | 12b4e5592a12baaf50637881f2cb9d66667b26b8d51a73cd8f0d6bcefe176ab6
            """)
    void librariesAreAsTheyWerePublished(String file, String sha256) throws IOException, GeneralSecurityException {
        byte[] content = Files.readAllBytes(FOLDER.resolve(PageFiles.VENDOR).resolve(file));

        assertThat(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content)))
                .isEqualTo(sha256);
    }
}

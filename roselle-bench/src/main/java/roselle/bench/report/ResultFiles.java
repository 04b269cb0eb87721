package roselle.bench.report;

import java.awt.AWTError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import roselle.api.InvalidRequestException;
import roselle.bench.chart.Picture;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes and reads the files of results. */
public final class ResultFiles {
    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Path folder;

    /** Files in a folder, which is made if it is not there. */
    public ResultFiles(Path folder) {
        this.folder = folder;
        try {
            Files.createDirectories(folder);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public Path folder() {
        return folder;
    }

    /** Writes a results document and its tables, and returns the document as it was written. */
    public JsonNode write(String name, Map<String, Object> document) {
        JsonNode tree = MAPPER.valueToTree(document);
        write(name + ".json", MAPPER.writeValueAsString(tree));
        write(name + ".md", Markdown.of(tree));
        return tree;
    }

    /** The tables that were written beside a document. */
    public String tables(String name) {
        try {
            return Files.readString(folder.resolve(name + ".md"), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Writes a file of text. */
    public Path write(String name, String text) {
        Path file = folder.resolve(name);
        try {
            return Files.writeString(file, text, StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Writes pictures as SVG and PNG and the page with all of it; returns why there is no PNG, or nothing. */
    public Optional<String> draw(Map<String, JsonNode> documents) {
        Map<String, Picture> pictures = Charts.of(documents);
        write("report.html", HtmlReport.of(documents, pictures));
        Path plots = folder.resolve("plots");
        try {
            Files.createDirectories(plots);
            for (var picture : pictures.entrySet()) {
                Files.writeString(
                        plots.resolve(picture.getKey() + ".svg"),
                        picture.getValue().svg());
            }
            for (var picture : pictures.entrySet()) {
                Files.write(
                        plots.resolve(picture.getKey() + ".png"),
                        picture.getValue().png());
            }
            return Optional.empty();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (LinkageError | InternalError | AWTError | RuntimeException missing) {
            return Optional.of("there are no PNG files, since this Java cannot draw (" + missing
                    + "): use a JDK with java.desktop whole, on Debian the package libfreetype6 with openjdk-25-jre-headless;"
                    + " the SVG files are whole");
        }
    }

    /** A results document. */
    public static JsonNode read(Path file) {
        try {
            JsonNode document = MAPPER.readTree(Files.readAllBytes(file));
            if (!document.path("schema").asString("").startsWith("roselle.bench.")) {
                throw new InvalidRequestException(
                        file + " is no result of roselle bench: it has no schema of that name");
            }
            return document;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (JacksonException malformed) {
            throw new InvalidRequestException(file + " is no JSON: " + malformed.getOriginalMessage(), malformed);
        }
    }
}

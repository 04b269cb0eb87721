package roselle.cli.model;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import roselle.api.InvalidRequestException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A file, or standard input, with one JSON value on each line. */
final class JsonLines implements AutoCloseable {
    static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final BufferedReader reader;
    private int number;

    /** The lines of a file; of standard input where there is none. */
    JsonLines(Optional<Path> file) {
        try {
            InputStream input = file.isPresent() ? Files.newInputStream(file.get()) : System.in;
            reader = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8.newDecoder()));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The value of the next line; empty behind the last. */
    Optional<JsonNode> next() {
        try {
            String line = reader.readLine();
            if (line == null) {
                return Optional.empty();
            }
            number++;
            return Optional.of(MAPPER.readTree(line));
        } catch (CharacterCodingException notUtf8) {
            throw new InvalidRequestException("the input is not text in UTF-8: convert it first");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        } catch (JacksonException malformed) {
            throw new InvalidRequestException("line " + number + " is not JSON: " + malformed.getOriginalMessage());
        }
    }

    /** The number of the line that was read last, from 1. */
    int number() {
        return number;
    }

    @Override
    public void close() {
        try {
            reader.close();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}

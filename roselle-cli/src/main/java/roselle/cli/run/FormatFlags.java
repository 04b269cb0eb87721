package roselle.cli.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.api.ResponseFormat;

/** The options that say what an answer must look like. */
final class FormatFlags {
    @Option(names = "--json-schema", paramLabel = "FILE", description = "Hold the answer to a JSON schema.")
    private @Nullable Path schema;

    @Option(
            names = "--regex",
            paramLabel = "REGEX",
            description = "Hold the answer to a regular expression, as a whole.")
    private @Nullable String regex;

    @Option(
            names = "--grammar",
            paramLabel = "FILE",
            description = "Hold the answer to a grammar in GBNF, llama.cpp's form.")
    private @Nullable Path grammar;

    boolean areSeveralGiven() {
        return Stream.of(schema, regex, grammar).filter(Objects::nonNull).count() > 1;
    }

    ResponseFormat format() {
        if (regex != null) {
            return new ResponseFormat.Regex(regex);
        }
        if (grammar != null) {
            return new ResponseFormat.Grammar(read(grammar));
        }
        return schema == null ? ResponseFormat.TEXT : new ResponseFormat.JsonSchema(read(schema));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (CharacterCodingException notUtf8) {
            throw new InvalidRequestException(file + " is not text in UTF-8: convert it first");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}

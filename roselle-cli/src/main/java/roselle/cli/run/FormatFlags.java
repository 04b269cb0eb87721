package roselle.cli.run;

import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.api.ResponseFormat;
import roselle.cli.option.TextInput;
import roselle.cli.report.Heading;

/** The options that say what an answer must look like. */
@Heading("Form of the answer")
final class FormatFlags {
    private static final int MAX_BYTES = 16 << 20;

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
            description = "Hold the answer to a grammar in GBNF, llama.cpp's form, or in Lark.")
    private @Nullable Path grammar;

    boolean isGiven() {
        return Stream.of(schema, regex, grammar).anyMatch(Objects::nonNull);
    }

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
        return TextInput.ofFile(file, MAX_BYTES, ": no format that can be kept to is as long");
    }
}

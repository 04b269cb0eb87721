package roselle.cli.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import roselle.api.InvalidRequestException;
import roselle.checkpoint.path.Checkpoints;
import roselle.cli.option.ModelNames;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code roselle tokenize}: one line per input, the ids of a text as a JSON array or the text of ids as a JSON string. */
@Command(name = "tokenize")
public final class TokenizeCommand implements Runnable {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Option(
            names = "--model",
            required = true,
            paramLabel = "MODEL",
            description = "A folder, a tokenizer.json, a .gguf, with or without tensors, or demo.")
    private Path model = Path.of("");

    @ArgGroup(multiplicity = "1")
    private Input input = new Input();

    @Option(names = "--parse-special", description = "Read spellings of special tokens as these tokens.")
    private boolean parsesSpecial;

    @Option(names = "--add-special", description = "Add the tokens that the model expects around a text.")
    private boolean addsSpecial;

    @Option(names = "--decode", description = "Turn JSON arrays of ids into text instead.")
    private boolean decodes;

    /** Where the texts come from: one of the three. */
    static final class Input {
        @Option(names = "--text", required = true, description = "The text itself.")
        private Optional<String> text = Optional.empty();

        @Option(names = "--file", required = true, description = "A file in UTF-8, whole.")
        private Optional<Path> file = Optional.empty();

        @Option(
                names = "--jsonl",
                required = true,
                description = "A file with a JSON string on each line, or, with --decode, an array of ids.")
        private Optional<Path> lines = Optional.empty();
    }

    @Override
    public void run() {
        if (input.text.isEmpty() && input.file.isEmpty() && input.lines.isEmpty()) {
            throw new ParameterException(specification.commandLine(), "one of --text, --file and --jsonl is needed");
        }
        PrintWriter out = specification.commandLine().getOut();
        try (var checkpoint = Checkpoints.open(ModelNames.resolve(model))) {
            Tokenizer tokenizer = checkpoint.tokenizer();
            input.text.ifPresent(text -> out.println(answer(tokenizer, text)));
            input.file.ifPresent(file -> out.println(answer(tokenizer, read(file))));
            input.lines.ifPresent(file -> answerLines(tokenizer, file, out));
        }
        out.flush();
    }

    private String answer(Tokenizer tokenizer, String text) {
        return decodes ? decoded(tokenizer, parsed(text, "the input")) : encoded(tokenizer, text);
    }

    private void answerLines(Tokenizer tokenizer, Path file, PrintWriter out) {
        int number = 0;
        for (String line : read(file).lines().toList()) {
            String place = file + ", line " + ++number;
            JsonNode value = parsed(line, place);
            if (!decodes && !value.isString()) {
                throw new InvalidRequestException(
                        place + " is not a JSON string: write one text in quotes on each line");
            }
            out.println(decodes ? decoded(tokenizer, value) : encoded(tokenizer, value.stringValue()));
        }
    }

    private String encoded(Tokenizer tokenizer, String text) {
        int[] ids = tokenizer.encode(text, new EncodeOptions(addsSpecial, parsesSpecial));
        return Arrays.stream(ids).mapToObj(Integer::toString).collect(Collectors.joining(",", "[", "]"));
    }

    private static String decoded(Tokenizer tokenizer, JsonNode ids) {
        if (!ids.isArray()) {
            throw new InvalidRequestException(
                    "'" + shortened(ids.toString()) + "' is not a JSON array of token ids: write one such as [1,2,3]");
        }
        int[] values = new int[ids.size()];
        for (int i = 0; i < values.length; i++) {
            if (!ids.get(i).isInt()) {
                throw new InvalidRequestException(
                        "'" + shortened(ids.get(i).toString()) + "' is not a token id: write whole numbers");
            }
            values[i] = ids.get(i).intValue();
        }
        return MAPPER.writeValueAsString(tokenizer.decode(values, false));
    }

    private static JsonNode parsed(String json, String place) {
        try {
            return MAPPER.readTree(json);
        } catch (JacksonException malformed) {
            throw new InvalidRequestException(
                    place + " is not JSON: '" + shortened(json) + "': " + malformed.getOriginalMessage());
        }
    }

    private static String shortened(String text) {
        return text.length() > 80 ? text.substring(0, 80) + "…" : text;
    }

    private static String read(Path file) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(Files.readAllBytes(file)))
                    .toString();
        } catch (CharacterCodingException notUtf8) {
            throw new InvalidRequestException(file + " is not text in UTF-8: convert it first");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}

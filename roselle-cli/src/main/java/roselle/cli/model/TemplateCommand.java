package roselle.cli.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Optional;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import roselle.api.InvalidRequestException;
import roselle.checkpoint.path.Checkpoints;
import roselle.cli.option.ModelNames;
import roselle.jinja.ChatTemplate;

/** {@code roselle template}: the prompt that a chat template makes of variables, and nothing else. */
@Command(name = "template")
public final class TemplateCommand implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @ArgGroup(multiplicity = "1")
    private Source source = new Source();

    @Option(
            names = "--variables",
            required = true,
            paramLabel = "FILE",
            description = "A JSON object: messages, tools, bos_token and what else the template reads.")
    private Path variables = Path.of("");

    @Option(
            names = "--now",
            paramLabel = "TIME",
            description = "What strftime_now formats, such as 2026-07-04T12:00:00; the clock's time by default.")
    private Optional<LocalDateTime> now = Optional.empty();

    /** Where the template comes from: one of the two. */
    static final class Source {
        @Option(
                names = "--model",
                required = true,
                description = "A folder or a .gguf that holds a chat template, or demo.")
        private Optional<Path> model = Optional.empty();

        @Option(names = "--template", required = true, description = "A file with the template itself.")
        private Optional<Path> file = Optional.empty();
    }

    @Override
    public void run() {
        var values = TemplateVariables.parse(read(variables), variables.toString());
        String prompt = template().render(values, now.orElseGet(LocalDateTime::now));
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(prompt)) {
            throw new InvalidRequestException("the prompt holds half of a surrogate pair, which no text file can");
        }
        PrintWriter out = specification.commandLine().getOut();
        out.print(prompt);
        out.flush();
    }

    private ChatTemplate template() {
        if (source.file.isPresent()) {
            Path file = source.file.get();
            return ChatTemplate.compile(file.toString(), read(file));
        }
        Path model = source.model.orElseThrow(
                () -> new ParameterException(specification.commandLine(), "one of --model and --template is needed"));
        try (var checkpoint = Checkpoints.open(ModelNames.resolve(model))) {
            String template = checkpoint
                    .chatTemplate()
                    .orElseThrow(() -> new InvalidRequestException(
                            model + " has no chat template: give one with --template FILE"));
            return ChatTemplate.compile(model.toString(), template);
        }
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

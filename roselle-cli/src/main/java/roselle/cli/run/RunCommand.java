package roselle.cli.run;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.api.ChatMessage;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.OutputOptions;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.cli.option.EngineFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.option.PullOffer;
import roselle.cli.option.TextInput;
import roselle.cli.report.ExitCode;
import roselle.cli.report.LoadingReport;
import roselle.cli.report.NearNames;
import roselle.cli.report.StartReport;
import roselle.conversation.Effort;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EnginePlan;
import roselle.engine.StartObserver;
import roselle.mcp.McpTools;

/** {@code roselle run}: one answer to a prompt, or a conversation. */
@Command(name = "run", sortOptions = false)
public final class RunCommand implements Callable<Integer> {
    private enum Output {
        TEXT,
        IDS,
        JSON
    }

    /** Drawn with where neither the user nor the model's makers say how: a little safer than the bare distribution. */
    private static final SamplingParameters CAUTIOUS =
            new SamplingParameters(0.8, 0, 0.95, 0, 1, 1, 0, 0, Map.of(), OptionalLong.empty());

    private static final String ADAPTER = "adapter"; // what the engine calls the only one

    private static final int LONGEST_INPUT_BYTES = 64 << 20;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "A .gguf, a folder, hf:org/name[:quantization], or demo, which comes with Roselle.")
    private Path model = Path.of("");

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "PROMPT",
            description = "What to answer; without it, standard input if that is no terminal, else a conversation.")
    private List<String> words = List.of();

    @Option(names = "--raw", description = "Continue the prompt as it stands, without the model's chat template.")
    private boolean raw;

    @Option(names = "--no-echo", description = "With --raw, do not print the prompt before its continuation.")
    private boolean hasNoEcho;

    @Option(names = "--system", paramLabel = "TEXT", description = "What the model is told before the conversation.")
    private @Nullable String system;

    @Option(
            names = "--think",
            negatable = true,
            fallbackValue = "true",
            description = "Let a model that can think before it answers do so, or not.")
    private @Nullable Boolean think;

    @Option(
            names = "--lora",
            paramLabel = "PATH",
            description = "Have an adapter of the model answer: PEFT's folder, a .gguf, or hf:org/name.")
    private @Nullable Path lora;

    @Option(
            names = "--output",
            paramLabel = "text|ids|json",
            defaultValue = "text",
            description = "What to print; default: ${DEFAULT-VALUE}.")
    private Output output = Output.TEXT;

    @Option(
            names = {"-v", "--verbose"},
            description =
                    "Print the memory plan, where the time of the start went, and the speed at the end, on standard error.")
    private boolean isVerbose;

    @Mixin
    private SamplingFlags sampling = new SamplingFlags();

    @Mixin
    private FormatFlags format = new FormatFlags();

    @Mixin
    private ToolFlags toolFlags = new ToolFlags();

    @Mixin
    private EngineFlags engineFlags = new EngineFlags();

    @Override
    public Integer call() {
        requireConsistentOptions();
        if (isTerminal() && !engineFlags.isOffline()) {
            model = PullOffer.accepted(model, PullOffer::ask);
        }
        EngineConfig config = checked(
                        () -> engineFlags.config(model, outputOptions().choices()))
                .withAdapterMemory(lora == null ? 0 : EngineConfig.ADAPTER_MEMORY);
        ResponseFormat asked = format.format();
        Optional<String> prompt = prompt(); // last: who pipes one in should not wait to hear of a typing error
        try (var engine = open(config)) {
            if (lora != null) {
                engine.loadAdapter(ADAPTER, NearNames.existing(ModelNames.resolve(lora, engineFlags.isOffline())));
            }
            tell(() -> engine.timeline().describe());
            try (McpTools tools = McpTools.connect(toolFlags.servers(), this::complain)) {
                Requests requests = requests(engine, asked, tools);
                prompt.ifPresentOrElse(
                        text -> answer(engine, requests, text, tools), () -> converse(engine, requests, tools));
            }
        }
        return ExitCode.OK.status();
    }

    private Engine open(EngineConfig config) {
        Consumer<EnginePlan> planned = plan -> tell(plan::describe);
        if (!isTerminal()) {
            return Engine.open(config, new StartReport(planned, StartObserver.NONE));
        }
        String name = String.valueOf(model.getFileName());
        try (var loading = LoadingReport.onStandardError(name)) {
            return Engine.open(config, new StartReport(planned, loading));
        }
    }

    /** Says something on standard error, if asked to. */
    private void tell(Supplier<String> lines) {
        if (isVerbose) {
            errors().print(lines.get());
            errors().flush();
        }
    }

    // ---- what was asked for ----

    private void requireConsistentOptions() {
        OutputOptions options = outputOptions();
        checked(() -> sampling.over(CAUTIOUS));
        checked(sampling::stop);
        if (output != Output.JSON && (options.logprobs() || options.promptLogprobs())) {
            throw misuse("--logprobs and --prompt-logprobs need --output json");
        }
        if (raw && (system != null || think != null)) {
            throw misuse("--system and --think are for the chat template, which --raw goes without");
        }
        if (format.areSeveralGiven()) {
            throw misuse("--json-schema, --regex and --grammar say what the answer must look like: give one of them");
        }
        requireConsistentTools(options);
        if (hasNoEcho && !raw) {
            throw misuse("--no-echo is for --raw, as only --raw echoes the prompt");
        }
    }

    private void requireConsistentTools(OutputOptions options) {
        if (!toolFlags.areGiven()) {
            if (toolFlags.isAllowed()) {
                throw misuse("--mcp-allow is for the tools of --mcp, and there is none");
            }
            return;
        }
        if (raw || output != Output.TEXT || options.choices() > 1) {
            throw misuse("--mcp is for one answer to a conversation, as text: without --raw, --output and --n");
        }
        if (!toolFlags.isAllowed() && !isTerminal()) {
            throw misuse("--mcp asks before each call, and there is no terminal: add --mcp-allow");
        }
    }

    private OutputOptions outputOptions() {
        return checked(sampling::output);
    }

    private Requests requests(Engine engine, ResponseFormat asked, McpTools tools) {
        if (!raw && !engine.hasChatTemplate()) {
            throw misuse(model + " has no chat template: add --raw to continue the prompt as it stands");
        }
        if (think != null && !engine.chatTemplateMentions(Effort.ENABLE_THINKING)) {
            throw misuse("--think is not for " + model + ", whose chat template knows no " + Effort.ENABLE_THINKING);
        }
        SamplingParameters defaults = engine.advisedSampling().orElse(CAUTIOUS);
        return new Requests(
                sampling.over(defaults),
                sampling.stop(),
                outputOptions(),
                Optional.ofNullable(think),
                asked,
                lora == null ? "" : ADAPTER,
                tools.forms());
    }

    private Optional<String> prompt() {
        if (!words.isEmpty()) {
            return Optional.of(String.join(" ", words));
        }
        return isTerminal() ? Optional.empty() : Optional.of(standardInput());
    }

    /** Whether answers are Markdown for a terminal, and neither a text that goes on nor of a form that was asked for. */
    private boolean isStyled() {
        return isTerminal() && !raw && !format.isGiven() && AnswerLayout.areStylesWanted(System.getenv());
    }

    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }

    private static String standardInput() {
        try {
            String text =
                    TextInput.read(System.in, "standard input", LONGEST_INPUT_BYTES, ", the most that a prompt may");
            if (text.isEmpty()) {
                throw new InvalidRequestException("standard input is empty: write a prompt there, or as an argument");
            }
            return text;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    // ---- one answer ----

    private void answer(Engine engine, Requests requests, String prompt, McpTools tools) {
        if (raw) {
            answer(engine, requests.raw(prompt), hasNoEcho ? "" : prompt);
            return;
        }
        List<ChatMessage> messages = conversation(prompt);
        var turns = new ToolTurns(tools, call -> toolFlags.isAllowed() || consent(), this::show);
        HeardAnswer heard = answer(engine, requests.chat(messages), "");
        while (!isBroken() && turns.follow(heard, messages)) {
            heard = answer(engine, requests.chat(messages), "");
        }
    }

    private HeardAnswer answer(Engine engine, GenerationRequest request, String echo) {
        var heard = new HeardAnswer();
        try (var generation = engine.submit(request)) {
            AnswerOutput printer = printer(request.output(), echo);
            while (generation.hasNext() && !isBroken()) {
                GenerationEvent event = generation.next();
                heard.take(event);
                print(event, printer);
            }
        }
        return heard;
    }

    /** Whether the user lets the call be made that was shown last. */
    private static boolean consent() {
        return Optional.ofNullable(System.console())
                .map(console -> console.readLine("%s", ToolFlags.QUESTION))
                .filter(said -> said.strip().equalsIgnoreCase("y"))
                .isPresent();
    }

    private void show(String text) {
        PrintWriter out = specification.commandLine().getOut();
        out.print(text);
        out.flush();
    }

    /** What commands of servers write to their standard error. */
    private void complain(String line) {
        tell(() -> line + "\n");
    }

    private void print(GenerationEvent event, AnswerOutput printer) {
        printer.print(event);
        if (event instanceof Failed failed) {
            throw failed.exception();
        }
        if (event instanceof Finished finished) {
            tell(() -> SpeedReport.of(finished.usage()));
        }
    }

    /** The classes of the terminal are loaded here and not before. */
    private void converse(Engine engine, Requests requests, McpTools tools) {
        try (ChatConsole console = TerminalConsole.open()) {
            console.out().print(greeting(engine));
            var session = new ChatSession(engine, requests, raw, Optional.ofNullable(system), console);
            session.use(tools, toolFlags.isAllowed());
            session.run();
        }
    }

    private String greeting(Engine engine) {
        return String.format(
                Locale.ROOT,
                "%s, %d tokens of context.%n/help tells what there is, Ctrl-C stops an answer, Ctrl-D leaves.%n",
                ModelNames.title(model),
                engine.context());
    }

    private List<ChatMessage> conversation(String prompt) {
        var messages = new ArrayList<ChatMessage>();
        if (system != null) {
            messages.add(ChatMessage.system(system));
        }
        messages.add(ChatMessage.user(prompt));
        return messages;
    }

    private AnswerOutput printer(OutputOptions options, String echo) {
        PrintWriter out = specification.commandLine().getOut();
        return switch (output) {
            case TEXT -> new TextOutput(out, options.choices(), echo, isStyled());
            case IDS -> new IdsOutput(out, options.choices());
            case JSON -> new JsonOutput(out, options.choices(), options.logprobs());
        };
    }

    /** Whether nobody reads any more, such as {@code head} after its lines: the answer is then given up, quietly. */
    private boolean isBroken() {
        return specification.commandLine().getOut().checkError() || System.out.checkError();
    }

    private PrintWriter errors() {
        return specification.commandLine().getErr();
    }

    private <T> T checked(Supplier<T> maker) {
        return ExitCode.checkingOptions(specification.commandLine(), maker);
    }

    private ParameterException misuse(String sentence) {
        return new ParameterException(specification.commandLine(), sentence);
    }
}

package roselle.cli.run;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.ChatMessage;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.Usage;
import roselle.cli.option.TextInput;
import roselle.cli.report.ExitCode;
import roselle.conversation.Effort;
import roselle.engine.Engine;
import roselle.hub.disk.WholeFile;
import roselle.mcp.McpException;
import roselle.mcp.McpTools;
import tools.jackson.databind.json.JsonMapper;

/**
 * A conversation with a model: reads what the user says, prints answers as they are made, and keeps both.
 *
 * <p>The whole conversation is submitted each time; the engine's prefix cache has all of it but the last message.
 */
final class ChatSession {
    private static final int LONGEST_CONVERSATION_BYTES = 64 << 20;
    private static final String NOTES = """
            A line that ends in \\ goes on in the next one, and so does text between \""".
            Tab completes commands, names and files. Ctrl-C stops an answer.
            """;

    private final Engine engine;
    private final Adjustments adjustments;
    private final boolean raw;
    private final ChatConsole console;
    private final PrintWriter out;
    private final List<ChatMessage> messages = new ArrayList<>();
    private Optional<String> system;
    private @Nullable Usage lastUsage;
    private Supplier<@Nullable ToolTurns> turns = () -> null;

    /** @param raw continue each text on its own, without a chat template */
    ChatSession(Engine engine, Requests requests, boolean raw, Optional<String> system, ChatConsole console) {
        this.engine = engine;
        adjustments = new Adjustments(requests);
        this.raw = raw;
        this.console = console;
        this.system = system;
        out = console.out();
    }

    /** Lets the model call tools, after asking the user unless that is allowed already. */
    void use(McpTools tools, boolean isAllowed) {
        turns = () -> new ToolTurns(tools, call -> isAllowed || consent(), this::print);
    }

    private boolean consent() {
        print(ToolFlags.QUESTION);
        return console.read().map(said -> said.strip().equalsIgnoreCase("y")).orElse(false);
    }

    /** Talks until the user leaves. */
    void run() {
        reset();
        boolean isOpen = true;
        while (isOpen) {
            isOpen = console.read().map(this::handle).orElse(false);
            out.flush();
        }
    }

    /** Returns whether the conversation goes on. */
    private boolean handle(String line) {
        String text = line.strip();
        if (!text.startsWith("/")) {
            if (!text.isEmpty()) {
                answer(line);
            }
            return true;
        }
        int space = text.indexOf(' ');
        String command = space < 0 ? text : text.substring(0, space);
        return obey(command, text.substring(command.length()).strip());
    }

    private boolean obey(String command, String argument) {
        switch (command) {
            case "/exit", "/quit", "/bye" -> {
                return false;
            }
            case "/system" -> {
                system = Optional.of(argument).filter(text -> !text.isEmpty());
                reset();
            }
            case "/set" -> set(argument);
            case "/regenerate" -> regenerate();
            case "/reset" -> reset();
            case "/clear" -> {
                reset();
                console.clear();
            }
            case "/stats" -> out.print(lastUsage == null ? "no answer yet\n" : SpeedReport.of(lastUsage));
            case "/save" -> save(argument);
            case "/load" -> load(argument);
            case "/help", "/?" -> out.print(SessionCommand.describe() + NOTES);
            default -> out.println("there is no " + command + ": /help lists what there is");
        }
        return true;
    }

    private void reset() {
        messages.clear();
        system.map(ChatMessage::system).ifPresent(messages::add);
    }

    private void answer(String text) {
        int before = messages.size();
        messages.add(ChatMessage.user(text));
        try {
            Requests requests = adjustments.present();
            HeardAnswer answer = generate(raw ? requests.raw(text) : requests.chat(messages));
            ToolTurns ofTools = turns.get();
            while (ofTools != null && ofTools.follow(answer, messages)) {
                answer = generate(requests.chat(messages));
            }
            messages.add(ChatMessage.assistant(answer.text()));
        } catch (InvalidRequestException | CapacityException | McpException refused) {
            messages.subList(before, messages.size()).clear();
            out.println(refused.getMessage() + "; /reset begins anew");
        }
    }

    /** Writes the last answer again; where that is refused, the one that there was stays. */
    private void regenerate() {
        int question = messages.size() - 1;
        while (question >= 0 && !messages.get(question).role().equals("user")) {
            question--;
        }
        if (question < 0 || question == messages.size() - 1) {
            out.println("no answer yet");
            return;
        }
        List<ChatMessage> before = List.copyOf(messages);
        messages.subList(question, messages.size()).clear();
        answer(String.valueOf(before.get(question).fields().get("content")));
        if (messages.size() <= question) {
            messages.clear();
            messages.addAll(before);
        }
    }

    private void set(String argument) {
        if (argument.isEmpty()) {
            out.print(adjustments.describe());
            return;
        }
        String[] words = argument.split("\\s+", 2);
        try {
            requireThinking(words[0]);
            adjustments.set(words[0], words.length == 1 ? "" : words[1]);
        } catch (InvalidRequestException refused) {
            out.println(refused.getMessage());
        }
    }

    private void requireThinking(String name) {
        if (name.equals(Adjustments.THINK) && !engine.chatTemplateMentions(Effort.ENABLE_THINKING)) {
            throw new InvalidRequestException("the model's chat template knows no " + Effort.ENABLE_THINKING);
        }
    }

    /** Prints an answer as it is made, and returns it: thoughts are shown, but no part of the conversation. */
    private HeardAnswer generate(GenerationRequest request) {
        var answer = new HeardAnswer();
        var layout = new AnswerLayout(console.isStyled() && !raw);
        try (var generation = engine.submit(request)) {
            console.onInterrupt(generation::close);
            for (var event : generation) {
                answer.take(event);
                switch (event) {
                    case Reasoning thought -> print(layout.thought(thought.text()));
                    case ToolCall call -> print(layout.call(call));
                    case TokenGenerated token -> print(layout.text(token.text()));
                    case ChoiceEnded end -> print(layout.text(end.text()));
                    case Finished finished -> lastUsage = finished.usage();
                    case Failed failed -> throw failed.exception();
                    case PromptScored _, ToolCallStarted _, ToolCallDelta _ -> {}
                }
            }
        } finally {
            console.onInterrupt(() -> {});
            out.println(layout.end());
        }
        return answer;
    }

    private void print(String text) {
        out.print(text);
        out.flush();
    }

    /** Goes on with the messages of a file; where it has none, the conversation stays as it is. */
    private void load(String name) {
        if (name.isEmpty()) {
            out.println("/load needs the name of a file");
            return;
        }
        try {
            String text = TextInput.ofFile(Path.of(name), LONGEST_CONVERSATION_BYTES, ": no conversation is as long");
            List<ChatMessage> loaded = SavedConversation.read(name, text);
            messages.clear();
            messages.addAll(loaded);
            system = loaded.stream()
                    .limit(1)
                    .filter(message -> message.role().equals("system"))
                    .map(message -> String.valueOf(message.fields().get("content")))
                    .findFirst();
            out.println(loaded.size() + " messages");
        } catch (UncheckedIOException unreadable) {
            out.println(name + " cannot be read: " + ExitCode.sentence(unreadable));
        } catch (InvalidRequestException | InvalidPathException malformed) {
            out.println(malformed.getMessage());
        }
    }

    private void save(String name) {
        if (name.isEmpty()) {
            out.println("/save needs the name of a file");
            return;
        }
        try {
            List<Map<String, Object>> fields =
                    messages.stream().map(ChatMessage::fields).toList();
            new WholeFile(Path.of(name))
                    .write(JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(fields) + "\n");
        } catch (IOException unwritable) {
            out.println(unwritable.getMessage());
        } catch (InvalidPathException unwritable) {
            out.println(name + " cannot be written: " + unwritable.getMessage());
        }
    }
}

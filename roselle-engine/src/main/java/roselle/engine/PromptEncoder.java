package roselle.engine;

import java.time.Clock;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.Prompt;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.jinja.ChatTemplate;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.SpecialSpellings;
import roselle.tokenizer.Tokenizer;

/**
 * Turns any prompt into token ids; immutable, and called by the threads that submit.
 *
 * <p>Special tokens that a chat template writes are parsed; those that a message spells are plain text, because each such
 * spelling in a message is broken by {@link SpecialSpellings} before it is rendered.
 */
final class PromptEncoder {
    private final Tokenizer tokenizer;
    private final Optional<ChatTemplate> template;
    private final Map<String, Object> modelVariables;
    private final SpecialSpellings specialSpellings;
    private final Clock clock;

    PromptEncoder(Checkpoint checkpoint, Tokenizer tokenizer, Clock clock) {
        this.tokenizer = tokenizer;
        this.clock = clock;
        template = checkpoint
                .chatTemplate()
                .map(source -> ChatTemplate.compile(checkpoint.source().getFileName() + ": chat template", source));
        modelVariables = Map.of(
                "bos_token", spelling(checkpoint, "bos_token_id"), "eos_token", spelling(checkpoint, "eos_token_id"));
        specialSpellings = new SpecialSpellings(tokenizer);
    }

    private String spelling(Checkpoint checkpoint, String key) {
        Metadata config = checkpoint.config();
        String name = checkpoint.format() == Checkpoint.Format.GGUF ? "tokenizer.ggml." + key : key;
        if (!config.has(name)) {
            return "";
        }
        int[] ids = config.integers(name); // a list where several end an answer, which may be empty
        return ids.length == 0 || !tokenizer.hasToken(ids[0]) ? "" : tokenizer.spellingOf(ids[0]);
    }

    Optional<ChatTemplate> template() {
        return template;
    }

    boolean hasTemplate() {
        return template.isPresent();
    }

    int[] encode(Prompt prompt) {
        return switch (prompt) {
            case Prompt.Text text ->
                tokenizer.encode(text.text(), new EncodeOptions(text.addSpecial(), text.parseSpecial()));
            case Prompt.Tokens tokens -> checked(tokens);
            case Prompt.Chat chat -> tokenizer.encode(render(chat), new EncodeOptions(false, true, true));
        };
    }

    private int[] checked(Prompt.Tokens tokens) {
        int[] ids = tokens.ids().stream().mapToInt(Integer::intValue).toArray();
        for (int id : ids) {
            if (!tokenizer.hasToken(id)) {
                throw new InvalidRequestException(
                        Reason.OUT_OF_RANGE,
                        "",
                        "the prompt has token id " + id
                                + ", which is no token of the model's: they are among 0 to "
                                + (tokenizer.vocabularySize() - 1));
            }
        }
        return ids;
    }

    /** The conversation as one text, with guarded special tokens in what the messages say. */
    String render(Prompt.Chat chat) {
        ChatTemplate compiled = template.orElseThrow(() -> new InvalidRequestException(
                Reason.UNSUPPORTED, "", "the model has no chat template: send a text prompt instead of messages"));
        Map<String, Object> variables = new HashMap<>(modelVariables);
        variables.put("add_generation_prompt", true);
        variables.putAll(guarded(chat.variables()));
        variables.put(
                "messages",
                chat.messages().stream()
                        .map(message -> guarded(message.fields()))
                        .toList());
        if (!chat.callable().isEmpty()) {
            variables.put("tools", guarded(chat.callable()));
        }
        String rendered = compiled.render(variables, LocalDateTime.now(clock));
        return Boolean.TRUE.equals(variables.get(Prompt.Chat.CONTINUE)) ? upToLastMessage(rendered, chat) : rendered;
    }

    /** The text without what the template writes after the last message, so that the answer goes on with it. */
    private String upToLastMessage(String rendered, Prompt.Chat chat) {
        Object content = chat.messages().getLast().fields().get("content");
        String last =
                content instanceof String text ? specialSpellings.guard(text).strip() : "";
        int begin = last.isEmpty() ? -1 : rendered.lastIndexOf(last);
        if (begin < 0) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    Prompt.Chat.CONTINUE,
                    Prompt.Chat.CONTINUE
                            + " is set, but the chat template does not write the last message's text as it is");
        }
        return rendered.substring(0, begin + last.length());
    }

    private @Nullable Object guarded(@Nullable Object value) {
        return switch (value) {
            case null -> null; // JSON's, in the schema of a tool
            case String text -> specialSpellings.guard(text);
            case List<?> list -> guarded(list);
            case Map<?, ?> map -> guarded(map);
            default -> value;
        };
    }

    private List<@Nullable Object> guarded(List<?> list) {
        var copy = new ArrayList<@Nullable Object>(list.size());
        list.forEach(each -> copy.add(guarded(each)));
        return copy;
    }

    private Map<String, @Nullable Object> guarded(Map<?, ?> map) {
        var copy = new LinkedHashMap<String, @Nullable Object>();
        map.forEach((name, each) -> copy.put(specialSpellings.guard(String.valueOf(name)), guarded(each)));
        return copy;
    }
}

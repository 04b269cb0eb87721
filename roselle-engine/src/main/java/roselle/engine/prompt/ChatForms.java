package roselle.engine.prompt;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import roselle.api.Prompt;
import roselle.checkpoint.Checkpoint;
import roselle.gotemplate.OllamaTemplate;
import roselle.jinja.ChatTemplate;
import roselle.tokenizer.Tokenizer;

/** The form of a model's chats, and those of templates that requests bring, of which the ones used last are kept; thread-safe. */
public final class ChatForms {
    private static final int MOST = 32;
    private static final int MOST_CHARACTERS = 1 << 20; // of all that are kept

    private final Tokenizer tokenizer;
    private final String toolParser;
    private final ChatForm own;
    private final Map<String, ChatForm> brought = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * The forms of a checkpoint.
     *
     * @param toolParser the name of the format of calls, or how it is found
     */
    public ChatForms(Checkpoint checkpoint, Tokenizer tokenizer, String toolParser) {
        this.tokenizer = tokenizer;
        this.toolParser = toolParser;
        String source = checkpoint.chatTemplate().orElse("");
        Optional<ChatTemplate> template = checkpoint
                .chatTemplate()
                .map(text -> ChatTemplate.compile(checkpoint.source().getFileName() + ": chat template", text));
        own = new ChatForm(tokenizer, source, template, toolParser);
    }

    /** That of the model's own template, if it has one. */
    public ChatForm own() {
        return own;
    }

    /** That of a prompt. */
    public ChatForm of(Prompt prompt) {
        return prompt instanceof Prompt.Chat chat ? of(chat.template()) : own;
    }

    /**
     * That of a template in Go's language.
     *
     * @param source empty for the model's own
     * @throws roselle.api.InvalidRequestException if it cannot be read
     */
    public ChatForm of(String source) {
        if (source.isEmpty()) {
            return own;
        }
        synchronized (brought) {
            ChatForm known = brought.get(source);
            if (known != null) {
                return known;
            }
        }
        ChatTemplate template = OllamaTemplate.parse("template", source);
        var form = new ChatForm(tokenizer, source, Optional.of(template), ChatForm.toolParser(template, toolParser));
        keep(source, form);
        return form;
    }

    private void keep(String source, ChatForm form) {
        synchronized (brought) {
            brought.put(source, form);
            long characters =
                    brought.keySet().stream().mapToLong(String::length).sum();
            var oldest = brought.keySet().iterator();
            while (brought.size() > MOST || characters > MOST_CHARACTERS) {
                characters -= oldest.next().length();
                oldest.remove();
            }
        }
    }
}

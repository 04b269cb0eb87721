package roselle.server.prompt;

import java.util.ArrayList;
import java.util.List;
import roselle.api.Prompt;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/** Reads a field that is one text or several, each as a string or as token ids. */
public final class PromptFields {
    private static final int MAX_PROMPTS = 2048;
    private static final int MAX_TOKENS = 10_000_000;
    private static final String KINDS = "a string, an array of strings, of token ids, or of arrays of token ids";

    private final String name;
    private final boolean addsSpecial;
    private final boolean parsesSpecial;

    private PromptFields(String name, boolean addsSpecial, boolean parsesSpecial) {
        this.name = name;
        this.addsSpecial = addsSpecial;
        this.parsesSpecial = parsesSpecial;
    }

    /** Texts of which other fields say what special tokens are to them. */
    public static List<Prompt> read(JsonFields fields, String name) {
        boolean addsSpecial = fields.bool("add_special_tokens", true);
        return new PromptFields(name, addsSpecial, fields.bool("parse_special_tokens", false)).prompts(fields);
    }

    /** Texts with the special tokens around them, and none within. */
    public static List<Prompt> plain(JsonFields fields, String name) {
        return new PromptFields(name, true, false).prompts(fields);
    }

    private List<Prompt> prompts(JsonFields fields) {
        return prompts(fields.any(name).orElseThrow(() -> fields.missing(name)));
    }

    private List<Prompt> prompts(JsonNode given) {
        if (given.isString()) {
            return List.of(text(given));
        }
        if (!given.isArray()) {
            throw JsonFields.wrongType(name, given, KINDS);
        }
        if (given.isEmpty()) {
            throw ApiException.invalid(name, name + " is an empty array: it must be " + KINDS);
        }
        return given.get(0).isNumber() ? List.of(tokens(given, name)) : several(given);
    }

    private List<Prompt> several(JsonNode given) {
        if (given.size() > MAX_PROMPTS) {
            throw ApiException.invalid(name, name + " has " + given.size() + " entries: at most " + MAX_PROMPTS);
        }
        var prompts = new ArrayList<Prompt>();
        for (JsonNode each : given.values()) {
            String path = name + "[" + prompts.size() + "]";
            if (each.isString()) {
                prompts.add(text(each));
            } else if (each.isArray()) {
                prompts.add(tokens(each, path));
            } else {
                throw JsonFields.wrongType(path, each, KINDS);
            }
        }
        return prompts;
    }

    private Prompt text(JsonNode given) {
        return new Prompt.Text(given.stringValue(), addsSpecial, parsesSpecial);
    }

    private static Prompt tokens(JsonNode given, String path) {
        return new Prompt.Tokens(JsonFields.integers(given, path, 0, Integer.MAX_VALUE, MAX_TOKENS));
    }
}

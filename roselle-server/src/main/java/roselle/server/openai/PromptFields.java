package roselle.server.openai;

import java.util.ArrayList;
import java.util.List;
import roselle.api.Prompt;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/** Reads a field that is one text or several, each as a string or as token ids. */
final class PromptFields {
    private static final int MAX_PROMPTS = 2048;
    private static final int MAX_TOKENS = 10_000_000;
    private static final String KINDS = "a string, an array of strings, of token ids, or of arrays of token ids";

    private final String name;
    private final boolean addsSpecial;
    private final boolean parsesSpecial;

    private PromptFields(JsonFields fields, String name) {
        this.name = name;
        addsSpecial = fields.bool("add_special_tokens", true);
        parsesSpecial = fields.bool("parse_special_tokens", false);
    }

    static List<Prompt> read(JsonFields fields, String name) {
        return new PromptFields(fields, name).prompts(fields.any(name).orElseThrow(() -> fields.missing(name)));
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

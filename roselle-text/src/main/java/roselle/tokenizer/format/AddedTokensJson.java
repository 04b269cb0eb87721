package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.model.Vocabulary;

/** Reads the added tokens of a tokenizer.json and checks them against the vocabulary. */
final class AddedTokensJson {
    private AddedTokensJson() {}

    static List<AddedToken> read(List<JsonComponent> json) {
        List<AddedToken> tokens = new ArrayList<>();
        for (JsonComponent token : json) {
            tokens.add(read(token, token.count("id")));
        }
        return tokens;
    }

    /** Reads the fields of a token whose id stands elsewhere. */
    static AddedToken read(JsonComponent json, int id) {
        boolean special = json.flag("special", false);
        return new AddedToken(
                id,
                json.string("content"),
                special,
                json.flag("single_word", false),
                json.flag("lstrip", false),
                json.flag("rstrip", false),
                json.flag("normalized", !special));
    }

    /** The tokens with a text; one id must have one spelling and one spelling one id, in the vocabulary too. */
    static List<AddedToken> checked(List<AddedToken> tokens, Vocabulary vocabulary, String origin) {
        List<AddedToken> checked = new ArrayList<>();
        Map<String, AddedToken> byContent = new HashMap<>();
        Set<Integer> ids = new HashSet<>();
        for (AddedToken token : tokens) {
            if (token.content().isEmpty()) {
                continue;
            }
            checkVocabulary(token, vocabulary, origin);
            AddedToken same = byContent.putIfAbsent(token.content(), token);
            if (same != null ? same.id() != token.id() : !ids.add(token.id())) {
                throw new CheckpointException(origin + ": added_tokens gives id " + token.id() + " to '"
                        + JsonSource.shortened(token.content()) + "', but the id or the token has been given before");
            }
            if (same == null) {
                checked.add(token);
            }
        }
        return checked;
    }

    private static void checkVocabulary(AddedToken token, Vocabulary vocabulary, String origin) {
        int known = vocabulary.find(token.content());
        boolean isTaken = known < 0 && vocabulary.contains(token.id());
        if (isTaken || (known >= 0 && known != token.id())) {
            throw new CheckpointException(origin + ": added_tokens gives id " + token.id() + " to '"
                    + JsonSource.shortened(token.content()) + "', but model.vocab "
                    + (isTaken
                            ? "gives that id to '" + JsonSource.shortened(vocabulary.spelling(token.id())) + "'"
                            : "gives it id " + known));
        }
    }
}

package roselle.tokenizer.model;

import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * One token for a whole word, or the unknown token.
 *
 * @param special ids that no word becomes
 */
public record WordLevelModel(Vocabulary vocabulary, int unknownId, IntPredicate special) implements Model {
    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        int id = vocabulary.find(text, start, end);
        ids.add(id < 0 || special.test(id) ? unknownId : id);
    }
}

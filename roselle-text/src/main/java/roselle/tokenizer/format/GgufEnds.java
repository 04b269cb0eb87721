package roselle.tokenizer.format;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import roselle.tokenizer.TokenPair;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.model.IdBuffer;

/**
 * Begin and end of sequence around a text, and between two.
 *
 * @param begin empty for none
 * @param end empty for none; then nothing tells two texts apart, and there are no pairs
 */
record GgufEnds(OptionalInt begin, OptionalInt end, Between between) implements PostProcessor {
    /** What stands between two texts. */
    enum Between {
        /** An end, as ModernBERT has it. */
        ONE,
        /** An end, and the second text is of another type: BERT. */
        ONE_WITH_TYPES,
        /** An end and a separator that looks the same: RoBERTa. */
        TWO
    }

    @Override
    public void process(int[] ids, IdBuffer output) {
        begin.ifPresent(output::add);
        output.addAll(ids, 0, ids.length);
        end.ifPresent(output::add);
    }

    @Override
    public Optional<TokenPair> pair(int[] first, int[] second) {
        if (end.isEmpty()) {
            return Optional.empty();
        }
        var all = new IdBuffer(first.length + second.length + 4);
        process(first, all);
        int typed = all.size();
        if (between == Between.TWO) {
            all.add(end.getAsInt());
        }
        all.addAll(second, 0, second.length);
        all.add(end.getAsInt());
        int[] types = new int[all.size()];
        if (between == Between.ONE_WITH_TYPES) {
            Arrays.fill(types, typed, types.length, 1);
        }
        return Optional.of(new TokenPair(all.toArray(), types));
    }
}

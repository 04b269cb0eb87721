package roselle.grammar.mask;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import roselle.grammar.automaton.SymbolClasses;
import roselle.grammar.automaton.Symbols;

class SliceTest {
    private static final String[] TOKENS = {"a", "ab", "abc", "b", "ba", "-", "a-b", "1", "12", "x1"};

    private final AtomicLong sum = new AtomicLong();
    private final TokenTrie trie = trie();
    private final NodeSymbols symbols = new NodeSymbols(trie);

    @Test
    void theSumIsThatOfAllSlicesThatAreKept() {
        Slice letters = slice(SymbolClasses.WIDE);
        Slice digits = slice(1L << SymbolClasses.of('1'));
        assertSum(letters, digits);
        long small = letters.bytes();
        assertThat(letters.maxSymbols()).isEqualTo(3);
        letters.atMost(1);
        for (int node = 1; node < trie.nodes; node++) {
            letters.below(node);
            digits.below(node);
        }
        assertThat(letters.bytes()).isGreaterThan(small);
        assertSum(letters, digits);
        letters.drop();
        assertSum(digits);
        letters.atMost(2); // whoever has it may go on with it
        assertSum(digits);
    }

    private void assertSum(Slice... kept) {
        long bytes = 0;
        for (Slice slice : kept) {
            bytes += slice.bytes();
        }
        assertThat(sum.get()).isEqualTo(bytes);
    }

    private Slice slice(long classes) {
        return new Slice(trie, symbols, Symbols.ofClasses(classes), 1, sum);
    }

    private static TokenTrie trie() {
        byte[][] tokens = new byte[TOKENS.length][];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = TOKENS[i].getBytes(StandardCharsets.UTF_8);
        }
        return new TokenTrie(tokens);
    }
}

package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.SymbolClasses;

/** Walks of the vocabulary's trie along lexemes. Not thread-safe. */
final class LexemeWalk {
    private static final int MIN_DENSE = 4096; // tokens, from which on a set of them is a base
    private static final int MIN_SCANNED = 16; // nodes below one
    private static final int MIN_LOOPED = 24; // nodes, below which steps are quicker than a slice
    private static final int APART =
            40; // a node with so large a part of the trie below it has a mask that is kept by itself

    private final Vocabulary vocabulary;
    private final TokenTrie trie;
    private final int minApart;
    private @Nullable Builders lent; // for one mask
    private final List<SetBuilder> builders = new ArrayList<>(); // of masks, one for each depth of masks within masks
    private SetBuilder inner = SetBuilder.NONE; // the one in use
    private int depth; // of masks within masks
    private final LexemeMasks lexemes;
    private final @Nullable Lexeme[] path; // of a scan, by depth
    private final LexemePath ways; // to some ends
    private final int[] wayOfTexts; // by depth
    private final ClassWalk classes;

    LexemeWalk(Vocabulary vocabulary) {
        this.lexemes = new LexemeMasks(vocabulary, this);
        this.vocabulary = vocabulary;
        this.trie = vocabulary.trie();
        this.minApart = Math.max(2 * MIN_LOOPED, trie.nodes / APART);
        this.path = new Lexeme[trie.maxDepth + 1];
        this.ways = new LexemePath(vocabulary);
        this.wayOfTexts = new int[trie.maxDepth + 1];
        this.classes = new ClassWalk(vocabulary, this);
    }

    /** What is known of lexemes. */
    LexemeMasks lexemes() {
        return lexemes;
    }

    /** Takes what a mask needs. */
    void take(Builders some) {
        lent = some;
        builders.clear();
        builders.add(some.next());
        lexemes.take(some);
        clear();
    }

    /** Begins anew: a walk that was given up may have left some. */
    void clear() {
        depth = 0;
        inner = builders.getFirst();
    }

    /** All tokens below a node whose bytes from there on stay inside a lexeme. */
    LexemeMask inside(Lexeme lexeme, int node) {
        inner.clear(); // a walk that was given up may have left some
        Ends.Builder ends = new Ends.Builder();
        if (lexeme.mayEnd() && trie.hasChildren(node)) {
            ends.add(lexeme, node);
        }
        if (isWorthLoop(lexeme, node)) {
            loop(lexeme, node, ends);
        } else {
            collectChildren(lexeme, node, ends);
        }
        return new LexemeMask(inner.finish(), ends.build());
    }

    /** The same by classes of symbols, where many tokens are below a node and the lexeme treats classes alike; else null. */
    @Nullable
    LexemeMask byClasses(Lexeme lexeme, int node) {
        int root = isLarge(node) && !lexeme.loop().isWide() ? classes.root(lexeme, node) : -1;
        if (root < 0) {
            return null;
        }
        inner.clear();
        Ends.Builder ends = new Ends.Builder();
        if (lexeme.mayEnd() && trie.hasChildren(node)) {
            ends.add(lexeme, node);
        }
        Ends.Builder found = new Ends.Builder();
        classes.inside(lexeme, root, found);
        ends.addGrouped(found);
        return new LexemeMask(inner.finish(), ends.build());
    }

    /** Adds tokens of ranges, each once, of which there are many. */
    void addMany(ClassTrie from, Ranges ranges) {
        boolean areFew = ranges.count() <= MIN_DENSE;
        long[] bits = areFew ? new long[0] : new long[vocabulary.words()];
        long hash = 0;
        for (int which = 0; which < ranges.size(); which++) {
            for (int i = ranges.first(which); i < ranges.end(which); i++) {
                int token = from.tokens[i];
                if (areFew) {
                    inner.add(token);
                } else {
                    bits[token >>> 6] |= 1L << token;
                }
            }
            hash += from.hashes[ranges.end(which)] - from.hashes[ranges.first(which)];
        }
        if (!areFew) {
            inner.addAll(TokenSet.of(Dense.of(bits, hash)));
        }
    }

    /** Walks from a node with symbols beyond ASCII. */
    void beyond(Lexeme lexeme, int node, Ends.Builder ends) {
        for (int i = trie.firstChild[node + 1] - 1; i >= trie.firstChild[node]; i--) {
            int octet = trie.childOctet[i] & 0xFF;
            if (octet < 0x80) {
                return;
            }
            enter(lexeme.next(octet), trie.child[i], ends);
        }
    }

    private boolean isWorthLoop(Lexeme lexeme, int node) {
        return trie.end[node] - node > MIN_LOOPED && lexeme.loop().isWide();
    }

    void collect(Lexeme lexeme, int parent, Ends.Builder ends) {
        if (isWorthApart(lexeme, parent)) {
            LexemeMask found = apart(lexeme, parent);
            inner.addAll(found.inside);
            ends.addAll(found.ends);
        } else if (isWorthLoop(lexeme, parent)) {
            loop(lexeme, parent, ends);
        } else {
            collectChildren(lexeme, parent, ends);
        }
    }

    /** Whether a large part of the trie is below a node. */
    boolean isLarge(int node) {
        return trie.end[node] - node >= minApart;
    }

    private boolean isWorthApart(Lexeme lexeme, int node) {
        return isLarge(node) && (lexeme.loop().isWide() || (lexeme.run() & SymbolClasses.WIDE) != 0);
    }

    /** The mask of a lexeme below a node, in the midst of another one. */
    private LexemeMask apart(Lexeme lexeme, int node) {
        SetBuilder outer = inner;
        if (++depth == builders.size()) {
            builders.add(Objects.requireNonNull(lent).next());
        }
        inner = builders.get(depth);
        LexemeMask found = lexemes.mask(lexeme, node); // where this is given up, so is all
        depth--;
        inner = outer;
        return found;
    }

    /** Below a node, where the lexeme goes on to itself with the symbols of a slice: only what leads out is walked. */
    private void loop(Lexeme lexeme, int parent, Ends.Builder ends) {
        Detours detours = isLarge(parent) ? Detours.of(lexeme) : null;
        if (detours != null && vocabulary.slice(detours.stays).hasBelow(parent)) {
            Ends.Builder found = new Ends.Builder();
            around(lexeme, detours, parent, found);
            ends.addGrouped(found);
            return;
        }
        NodeSymbols symbols = vocabulary.symbols();
        Slice slice = vocabulary.slice(lexeme.loop());
        int last = trie.end[parent];
        boolean isShared = slice.hasBelow(parent);
        if (isShared) {
            inner.addAll(TokenSet.of(slice.below(parent)));
        }
        if (parent == 0) {
            for (Slice.Edge edge : slice.edges()) {
                leave(lexeme, edge, ends);
            }
            return;
        }
        int node = parent + 1;
        while (node < last) {
            int exit = slice.nextOutside(node, last);
            for (int i = symbols.firstToken[node]; i < symbols.firstToken[exit] && !isShared; i++) {
                inner.add(symbols.tokens[i]);
            }
            if (exit < last) {
                enter(behind(lexeme, exit, symbols.before[exit]), exit, ends);
            }
            node = exit < last ? trie.end[exit] : last;
        }
    }

    /** The same with detours: they are walked only where they do not lead back. */
    private void around(Lexeme lexeme, Detours detours, int parent, Ends.Builder ends) {
        NodeSymbols symbols = vocabulary.symbols();
        Slice slice = vocabulary.slice(detours.stays);
        inner.addAll(TokenSet.of(slice.below(parent)));
        int last = trie.end[parent];
        int[] watched = watched(detours, parent);
        int next = 0; // of these
        int node = parent + 1;
        while (node < last) {
            while (next < watched.length && watched[next] < node) {
                next++;
            }
            int exit = slice.nextOutside(node, next < watched.length ? watched[next] : last);
            if (exit == last) {
                return;
            }
            inner.removeAll(symbols.tokens, symbols.firstToken[exit], symbols.firstToken[trie.end[exit]]);
            int above = symbols.above(exit); // where the symbol begins
            int before = above == parent ? 0 : trie.octet[above] & 0xFF;
            Lexeme detour = before < 128 ? detours.behind[before] : null;
            enter(behind(detour == null ? lexeme : detour, exit, symbols.before[exit]), exit, ends);
            node = trie.end[exit];
        }
    }

    /** The nodes below one at which a detour may lead elsewhere, in their order. */
    private int[] watched(Detours detours, int parent) {
        NodeSymbols symbols = vocabulary.symbols();
        IntList found = new IntList();
        for (int before = 0; before < 128; before++) {
            for (int symbol : detours.watchedBehind(before)) {
                int[] nodes = symbols.pairs(before, symbol);
                int from = Arrays.binarySearch(nodes, parent);
                for (int i = from < 0 ? -1 - from : from + 1; i < nodes.length && nodes[i] < trie.end[parent]; i++) {
                    if (symbols.parent[nodes[i]] != parent) { // below the node itself nothing is before it
                        found.add(nodes[i]);
                    }
                }
            }
        }
        int[] inOrder = found.toArray();
        Arrays.sort(inOrder);
        return inOrder;
    }

    private void leave(Lexeme lexeme, Slice.Edge edge, Ends.Builder ends) {
        Lexeme next = lexeme;
        for (int i = 0; i < edge.octets().length && next != null; i++) {
            next = next.next(edge.octets()[i]);
        }
        if (next != null) {
            for (int node : edge.nodes()) {
                enter(next, node, ends);
            }
        }
    }

    /** The lexeme behind the bytes of a node's symbol. */
    private @Nullable Lexeme behind(Lexeme lexeme, int node, int before) {
        Lexeme above = before == 0 ? lexeme : behind(lexeme, vocabulary.symbols().parent[node], before - 1);
        return above == null ? null : above.next(trie.octet[node] & 0xFF);
    }

    private void collectChildren(Lexeme lexeme, int parent, Ends.Builder ends) {
        Lexeme.KnownTexts texts = lexeme.texts();
        if (texts != null) {
            collect(lexeme, texts, parent, ends);
            return;
        }
        int[] few = lexeme.octets();
        if (few == null && trie.end[parent] - parent > MIN_SCANNED) {
            scan(lexeme, parent, ends);
            return;
        }
        if (few != null && few.length < trie.children(parent)) {
            for (int octet : few) {
                int node = trie.child(parent, octet);
                if (node >= 0) {
                    enter(lexeme.next(octet), node, ends);
                }
            }
            return;
        }
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            enter(lexeme.next(trie.childOctet[i] & 0xFF), trie.child[i], ends);
        }
    }

    /** The same where most octets may come: node by node in their order, as they lie in memory. */
    @SuppressWarnings("ReferenceEquality") // interned
    private void scan(Lexeme lexeme, int parent, Ends.Builder ends) {
        path[trie.depth[parent]] = lexeme;
        int node = parent + 1;
        int last = trie.end[parent];
        while (node < last) {
            int depth = trie.depth[node];
            int end = trie.end[node];
            Lexeme next = Objects.requireNonNull(path[depth - 1]).next(trie.octet[node] & 0xFF);
            if (next == null) {
                node = end;
                continue;
            }
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                inner.add(token);
            }
            boolean isFew = (end - node > MIN_SCANNED && (next.texts() != null || next.octets() != null))
                    || isWorthLoop(next, node)
                    || isWorthApart(next, node);
            if (end > node + 1 && next.mayEnd()) {
                ends.add(next, node);
            }
            if (isFew) {
                collect(next, node, ends);
                node = end;
            } else {
                if (path[depth] != next) { // most stay as they are, and writing costs more
                    path[depth] = next;
                }
                node++;
            }
        }
    }

    /** The same where the texts are known. */
    private void collect(Lexeme lexeme, Lexeme.KnownTexts texts, int parent, Ends.Builder ends) {
        int[] way = wayOfTexts;
        way[0] = parent;
        int known = 0; // nodes of the way of the text before
        byte[] before = {};
        for (int which = texts.from(); which < texts.to(); which++) {
            if (!texts.has(which)) {
                continue;
            }
            byte[] bytes = texts.texts()[which];
            int at = Math.min(known, shared(before, bytes, texts.skipped()));
            int node = way[at];
            while (at < bytes.length - texts.skipped()) {
                node = trie.child(node, bytes[texts.skipped() + at] & 0xFF);
                if (node < 0) {
                    break;
                }
                for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                    inner.add(token);
                }
                way[++at] = node;
            }
            if (node >= 0 && at > 0 && trie.hasChildren(node)) {
                ends.add(lexeme.endOf(which), node);
            }
            known = at;
            before = bytes;
        }
    }

    private static int shared(byte[] a, byte[] b, int skipped) {
        if (a.length == 0) {
            return 0;
        }
        int at = Arrays.mismatch(a, skipped, a.length, b, skipped, b.length);
        return at < 0 ? b.length - skipped : at;
    }

    void enter(@Nullable Lexeme lexeme, int node, Ends.Builder ends) {
        if (lexeme == null) {
            return;
        }
        for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
            inner.add(token);
        }
        if (trie.hasChildren(node)) {
            if (lexeme.mayEnd()) {
                ends.add(lexeme, node);
            }
            collect(lexeme, node, ends);
        }
    }

    /** The same for a lexeme that goes on alike with the symbols of a slice; null where they end in between. */
    @Nullable
    LexemeMask along(Lexeme lexeme, int node, long classes, Slice slice) {
        List<Lexeme> behind = new ArrayList<>(); // so many symbols of the slice
        behind.add(lexeme);
        boolean isEndless = false;
        while (!isEndless) {
            Lexeme last = behind.getLast();
            if (!last.isAlike(classes)) {
                return null;
            }
            Lexeme next = last.behind(classes);
            if (next == null) {
                if (node > 0 || isSplit(last, classes)) {
                    return null;
                }
                break;
            }
            if (next.mayEnd()) {
                return null; // it ends within the slice's tokens
            }
            isEndless = next.equals(last) || behind.size() == slice.maxSymbols();
            behind.add(next);
        }
        inner.clear();
        Ends.Builder ends = new Ends.Builder();
        if (lexeme.mayEnd()) {
            ends.add(lexeme, node);
        }
        int last = behind.size() - 1;
        if (node > 0) {
            inner.addAll(TokenSet.of(slice.below(node)));
            leave(behind, slice, node, ends);
        } else {
            inner.addAll(TokenSet.of(slice.atMost(isEndless ? slice.maxSymbols() : last)));
            for (Slice.Edge edge : slice.edges()) {
                if (isEndless || edge.symbols() <= last) {
                    leave(behind.get(Math.min(edge.symbols(), last)), edge, ends);
                }
            }
        }
        return new LexemeMask(inner.finish(), ends.build());
    }

    /** What leads out of a slice below a node, where the lexemes behind so many of its symbols are known. */
    private void leave(List<Lexeme> behind, Slice slice, int parent, Ends.Builder ends) {
        NodeSymbols symbols = vocabulary.symbols();
        int exit = slice.nextOutside(parent + 1, trie.end[parent]);
        while (exit < trie.end[parent]) {
            int before = Math.max(0, symbols.symbols[exit] - 1 - symbols.symbols[parent]);
            enter(behind(behind.get(Math.min(before, behind.size() - 1)), exit, symbols.before[exit]), exit, ends);
            exit = trie.end[exit] < trie.end[parent]
                    ? slice.nextOutside(trie.end[exit], trie.end[parent])
                    : trie.end[parent];
        }
    }

    /** Whether a lexeme with which symbols beyond ASCII do not go on takes those that share their first bytes. */
    private static boolean isSplit(Lexeme lexeme, long classes) {
        long beyond = SymbolClasses.ALL_BEYOND;
        return (classes & beyond) != 0 && (!lexeme.isAlike(beyond) || lexeme.behind(beyond) != null);
    }

    /** A wider lexeme's tokens below a node without those that complete a text that another leaves out. */
    LexemeMask without(LexemeMask all, Lexeme lexeme, int root) {
        inner.clear();
        inner.addAll(all.inside);
        IntList gone = new IntList();
        for (byte[] text : lexeme.excludedTexts()) {
            int node = descend(root, text);
            if (node >= 0) {
                remove(node, gone);
            }
        }
        Lexeme excluded = lexeme.excluded();
        if (excluded != null) {
            if (excluded.mayEnd()) {
                gone.add(root);
            }
            int closing = excluded.closing();
            exclude(excluded, root, closing < 0 ? null : trie.hasBelow(closing), gone);
        }
        TokenSet inside = inner.finish();
        if (gone.size() == 0) {
            return new LexemeMask(inside, all.ends);
        }
        int[] nodes = gone.toArray();
        Arrays.sort(nodes);
        return new LexemeMask(inside, all.ends.without(nodes));
    }

    private void exclude(Lexeme excluded, int parent, boolean @Nullable [] mayClose, IntList gone) {
        int[] few = excluded.octets();
        if (few != null && few.length < trie.children(parent)) {
            for (int octet : few) {
                int node = trie.child(parent, octet);
                if (node >= 0 && (mayClose == null || mayClose[node])) {
                    excludeAt(excluded.next(octet), node, mayClose, gone);
                }
            }
            return;
        }
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            if (mayClose == null || mayClose[trie.child[i]]) {
                excludeAt(excluded.next(trie.childOctet[i] & 0xFF), trie.child[i], mayClose, gone);
            }
        }
    }

    /** The node behind some bytes, or -1. */
    private int descend(int from, byte[] bytes) {
        int node = from;
        for (int i = 0; i < bytes.length && node >= 0; i++) {
            node = trie.child(node, bytes[i] & 0xFF);
        }
        return node;
    }

    private void remove(int node, IntList gone) {
        for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
            inner.remove(token);
        }
        if (trie.hasChildren(node)) {
            gone.add(node);
        }
    }

    private void excludeAt(@Nullable Lexeme excluded, int node, boolean @Nullable [] mayClose, IntList gone) {
        if (excluded == null) {
            return;
        }
        if (excluded.mayEnd()) { // this text is excluded: no token may complete it
            remove(node, gone);
        }
        exclude(excluded, node, mayClose, gone);
    }

    /** Those of some ends of a wider lexeme that a lexeme ends at, too, all below a node. */
    Ends those(Ends all, Lexeme lexeme, int root) {
        IntList found = new IntList();
        ways.begin(lexeme, root);
        for (int node : all.sortedNodes()) {
            Lexeme end = ways.at(node);
            if (end != null && end.mayEnd()) {
                found.add(node);
            }
        }
        return all.only(found.toArray());
    }

    /** Whether two lexemes go on alike below most of a node's children. */
    @SuppressWarnings("ReferenceEquality") // interned
    boolean areAlike(Lexeme one, Lexeme other, int parent) {
        int differing = 0;
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            int octet = trie.childOctet[i] & 0xFF;
            differing += one.next(octet) == other.next(octet) ? 0 : trie.end[trie.child[i]] - trie.child[i];
        }
        return differing < (trie.end[parent] - parent) / 3;
    }

    /** The tokens of a lexeme that resembles another, whose tokens below the node are known. */
    LexemeMask differing(LexemeMask other, Lexeme lexeme, Lexeme resembled, int root) {
        inner.clear();
        inner.addAll(other.inside);
        Ranges gone = new Ranges();
        gone.add(root, root + 1);
        Ends.Builder further = new Ends.Builder();
        differ(lexeme, resembled, root, gone, further);
        Ends.Builder ends = new Ends.Builder();
        if (lexeme.mayEnd() && trie.hasChildren(root)) {
            ends.add(lexeme, root);
        }
        for (int i = 0; i < other.ends.size(); i++) {
            if (!gone.has(other.ends.nodes[i])) {
                ends.add(other.ends.lexemes[i], other.ends.nodes[i]);
            }
        }
        ends.addAll(further);
        return new LexemeMask(inner.finish(), ends.build());
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private void differ(Lexeme one, Lexeme other, int parent, Ranges gone, Ends.Builder further) {
        NodeSymbols symbols = vocabulary.symbols();
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            int node = trie.child[i];
            Lexeme mine = one.next(trie.childOctet[i] & 0xFF);
            Lexeme its = other.next(trie.childOctet[i] & 0xFF);
            if (mine == its) {
                continue;
            }
            if (mine == null) {
                inner.removeAll(symbols.tokens, symbols.firstToken[node], symbols.firstToken[trie.end[node]]);
                gone.add(node, trie.end[node]);
            } else if (its == null) {
                enter(mine, node, further);
            } else {
                if (its.mayEnd()) {
                    gone.add(node, node + 1);
                }
                if (mine.mayEnd() && trie.hasChildren(node)) {
                    further.add(mine, node);
                }
                differ(mine, its, node, gone, further);
            }
        }
    }
}

package roselle.grammar.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import roselle.grammar.mask.Vocabulary;

/** Byte-pair encoding by a file of ranks, with the splitting of Qwen's tokenizer. */
final class QwenTokenizer {
    static final int END = 151_643;
    private static final int MAX_WORD = 256;
    private static final int SIZE = 151_646;
    private static final Pattern WORDS = Pattern.compile(
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");

    private final Map<String, Integer> ranks = new HashMap<>();
    private final byte[][] tokens = new byte[SIZE][];

    QwenTokenizer(Path file) throws IOException {
        Arrays.fill(tokens, new byte[0]);
        for (String line : Files.readAllLines(file)) {
            int space = line.indexOf(' ');
            if (space > 0) {
                byte[] token = Base64.getDecoder().decode(line.substring(0, space));
                int rank = Integer.parseInt(line.substring(space + 1).trim());
                tokens[rank] = token;
                ranks.put(new String(token, StandardCharsets.ISO_8859_1), rank);
            }
        }
    }

    Vocabulary vocabulary() {
        return new Vocabulary(tokens, new int[] {END});
    }

    String text(int id) {
        return new String(tokens[id], StandardCharsets.UTF_8);
    }

    int[] encode(String text) {
        List<Integer> ids = new ArrayList<>();
        Matcher words = WORDS.matcher(text);
        while (words.find()) {
            String bytes = new String(words.group().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
            for (int at = 0; at < bytes.length(); at += MAX_WORD) { // merging takes quadratic time
                merge(bytes.substring(at, Math.min(bytes.length(), at + MAX_WORD)), ids);
            }
        }
        return ids.stream().mapToInt(Integer::intValue).toArray();
    }

    private void merge(String bytes, List<Integer> ids) {
        Integer whole = ranks.get(bytes);
        if (whole != null) {
            ids.add(whole);
            return;
        }
        List<String> parts = new ArrayList<>(
                bytes.chars().mapToObj(c -> String.valueOf((char) c)).toList());
        while (true) {
            int best = -1;
            int bestRank = Integer.MAX_VALUE;
            for (int i = 0; i + 1 < parts.size(); i++) {
                int rank = ranks.getOrDefault(parts.get(i) + parts.get(i + 1), Integer.MAX_VALUE);
                if (rank < bestRank) {
                    bestRank = rank;
                    best = i;
                }
            }
            if (best < 0) {
                break;
            }
            parts.set(best, parts.get(best) + parts.remove(best + 1));
        }
        parts.forEach(part -> ids.add(ranks.get(part)));
    }
}

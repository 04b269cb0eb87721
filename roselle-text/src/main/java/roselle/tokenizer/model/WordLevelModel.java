package roselle.tokenizer.model;

/** One token for a whole word, or the unknown token. */
public record WordLevelModel(Vocabulary vocabulary, int unknownId) implements Model {
    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids) {
        int id = vocabulary.find(text, start, end);
        ids.add(id < 0 ? unknownId : id);
    }
}

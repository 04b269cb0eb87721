package roselle.tokenizer.decoder;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** One decoder after the other. */
record DecoderSequence(List<DecoderStage> stages) implements DecoderStage {
    @Override
    public boolean joins() {
        return stages.stream().anyMatch(DecoderStage::joins);
    }

    @Override
    public int growth() {
        long growth = 1;
        for (DecoderStage stage : stages) {
            growth = Math.min(Integer.MAX_VALUE, growth * stage.growth());
        }
        return (int) growth;
    }

    @Override
    public String middle(String token) {
        String text = token;
        for (DecoderStage stage : stages) {
            text = stage.middle(text);
        }
        return text;
    }

    /** The first stage that yields bytes which are not text decides. */
    @Override
    public byte[] bytesOf(String spelling) {
        String text = spelling;
        for (DecoderStage stage : stages) {
            byte[] bytes = stage.bytesOf(text);
            String rewritten = stage.middle(text);
            if (!new String(bytes, StandardCharsets.UTF_8).equals(rewritten) || rewritten.indexOf('\uFFFD') >= 0) {
                return bytes;
            }
            text = rewritten;
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public DecodingStream open() {
        List<DecodingStream> streams = new ArrayList<>();
        boolean joined = false;
        for (DecoderStage stage : stages) {
            streams.add(joined ? stage.openJoined() : stage.open());
            joined |= stage.joins();
        }
        return new Chain(List.copyOf(streams));
    }

    private record Chain(List<DecodingStream> streams) implements DecodingStream {
        @Override
        public void append(String token, TextSink next) {
            append(0, token, next);
        }

        private void append(int stage, String token, TextSink next) {
            if (stage == streams.size()) {
                next.accept(token);
            } else {
                streams.get(stage).append(token, text -> append(stage + 1, text, next));
            }
        }

        @Override
        public void finish(TextSink next) {
            for (int i = 0; i < streams.size(); i++) {
                int following = i + 1;
                streams.get(i).finish(text -> append(following, text, next));
            }
        }
    }
}

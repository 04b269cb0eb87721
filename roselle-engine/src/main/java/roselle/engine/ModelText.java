package roselle.engine;

import java.time.Clock;
import java.time.ZoneId;
import roselle.checkpoint.Checkpoint;
import roselle.engine.prompt.ChatForms;
import roselle.engine.prompt.PromptEncoder;
import roselle.tokenizer.Tokenizer;
import roselle.work.LongWork;

/** What of a model reads and writes text: its tokenizer, and what its chat template tells of. */
record ModelText(Tokenizer tokenizer, LongWork longWork, ChatForms forms, PromptEncoder encoder) {
    /** @param toolParser the name of the format of calls, or how it is found */
    static ModelText of(Checkpoint checkpoint, Tokenizer tokenizer, String toolParser) {
        LongWork longWork = LongWork.ofThisMachine();
        var forms = new ChatForms(checkpoint, tokenizer, toolParser);
        var encoder = new PromptEncoder(checkpoint, tokenizer, forms, Clock.system(ZoneId.systemDefault()), longWork);
        return new ModelText(tokenizer, longWork, forms, encoder);
    }
}

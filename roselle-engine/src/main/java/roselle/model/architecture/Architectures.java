package roselle.model.architecture;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.model.architecture.dense.Bloom;
import roselle.model.architecture.dense.Cohere;
import roselle.model.architecture.dense.Cohere2;
import roselle.model.architecture.dense.Exaone4;
import roselle.model.architecture.dense.Falcon;
import roselle.model.architecture.dense.Gemma;
import roselle.model.architecture.dense.Gemma2;
import roselle.model.architecture.dense.Gemma3;
import roselle.model.architecture.dense.Gemma3n;
import roselle.model.architecture.dense.Gemma4;
import roselle.model.architecture.dense.Glm;
import roselle.model.architecture.dense.Glm4;
import roselle.model.architecture.dense.Gpt2;
import roselle.model.architecture.dense.GptBigCode;
import roselle.model.architecture.dense.GptJ;
import roselle.model.architecture.dense.GptNeox;
import roselle.model.architecture.dense.Mpt;
import roselle.model.architecture.dense.Nemotron;
import roselle.model.architecture.dense.Olmo2;
import roselle.model.architecture.dense.Olmo3;
import roselle.model.architecture.dense.Opt;
import roselle.model.architecture.dense.Phi;
import roselle.model.architecture.dense.Starcoder2;
import roselle.model.architecture.dense.VaultGemma;
import roselle.model.architecture.encoder.Bert;
import roselle.model.architecture.encoder.DebertaV2;
import roselle.model.architecture.encoder.DistilBert;
import roselle.model.architecture.encoder.Electra;
import roselle.model.architecture.encoder.EuroBert;
import roselle.model.architecture.encoder.Gte;
import roselle.model.architecture.encoder.JinaV3;
import roselle.model.architecture.encoder.ModernBert;
import roselle.model.architecture.encoder.MpNet;
import roselle.model.architecture.encoder.NomicBert;
import roselle.model.architecture.encoder.Roberta;
import roselle.model.architecture.expert.Afmoe;
import roselle.model.architecture.expert.Cohere2Moe;
import roselle.model.architecture.expert.DeepseekV3;
import roselle.model.architecture.expert.DeepseekV32;
import roselle.model.architecture.expert.DeepseekV4;
import roselle.model.architecture.expert.Dots1;
import roselle.model.architecture.expert.Ernie45Moe;
import roselle.model.architecture.expert.ExaoneMoe;
import roselle.model.architecture.expert.FlexOlmo;
import roselle.model.architecture.expert.Glm4Moe;
import roselle.model.architecture.expert.Glm53;
import roselle.model.architecture.expert.GptOss;
import roselle.model.architecture.expert.GraniteMoe;
import roselle.model.architecture.expert.HyV3;
import roselle.model.architecture.expert.HyV4;
import roselle.model.architecture.expert.Llama4;
import roselle.model.architecture.expert.MiMoV2;
import roselle.model.architecture.expert.MiniMaxM2;
import roselle.model.architecture.expert.MiniMaxM3;
import roselle.model.architecture.expert.Mixtral;
import roselle.model.architecture.expert.Olmoe;
import roselle.model.architecture.expert.PhiMoe;
import roselle.model.architecture.expert.Qwen2Moe;
import roselle.model.architecture.expert.Qwen3Moe;
import roselle.model.architecture.expert.SolarOpen;
import roselle.model.architecture.expert.Step35;
import roselle.model.architecture.hybrid.Bamba;
import roselle.model.architecture.hybrid.FalconH1;
import roselle.model.architecture.hybrid.GraniteHybrid;
import roselle.model.architecture.hybrid.Jamba;
import roselle.model.architecture.hybrid.KimiLinear;
import roselle.model.architecture.hybrid.Lfm2;
import roselle.model.architecture.hybrid.Lfm2Moe;
import roselle.model.architecture.hybrid.Lfm3;
import roselle.model.architecture.hybrid.Ling3;
import roselle.model.architecture.hybrid.Mamba;
import roselle.model.architecture.hybrid.Mamba2;
import roselle.model.architecture.hybrid.MiniMax01;
import roselle.model.architecture.hybrid.NemotronH;
import roselle.model.architecture.hybrid.OlmoHybrid;
import roselle.model.architecture.hybrid.Qwen35;
import roselle.model.architecture.hybrid.Qwen3Next;
import roselle.model.architecture.llama.Apertus;
import roselle.model.architecture.llama.Arcee;
import roselle.model.architecture.llama.Ernie45;
import roselle.model.architecture.llama.Granite;
import roselle.model.architecture.llama.Hunyuan;
import roselle.model.architecture.llama.Llama;
import roselle.model.architecture.llama.Mistral;
import roselle.model.architecture.llama.Phi3;
import roselle.model.architecture.llama.Qwen2;
import roselle.model.architecture.llama.Qwen3;
import roselle.model.architecture.llama.SeedOss;
import roselle.model.architecture.llama.SmolLm3;
import roselle.model.architecture.llama.StableLm;
import roselle.model.architecture.vision.Mistral3;
import roselle.model.architecture.vision.Qwen25Vl;
import roselle.model.architecture.vision.Qwen3Vl;
import roselle.model.architecture.vision.Wrapped;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.UnreadFields;
import roselle.model.weights.Blueprint;

/** All families of decoders and encoders, and the way from a checkpoint to one. */
public final class Architectures {
    private static final List<Architecture> ALL = List.of(
            new Afmoe(),
            new Apertus(),
            new Arcee(),
            new Bamba(),
            new Bert(),
            new Bloom(),
            new Cohere(),
            new Cohere2(),
            new Cohere2Moe(),
            new DeepseekV3(),
            new DeepseekV32(),
            new DeepseekV4(),
            new DebertaV2(),
            new DistilBert(),
            new Dots1(),
            new Electra(),
            new Ernie45(),
            new Ernie45Moe(),
            new EuroBert(),
            new Exaone4(),
            new ExaoneMoe(),
            new Falcon(),
            new FalconH1(),
            new FlexOlmo(),
            new Gemma(),
            new Gemma2(),
            new Gemma3(),
            new Gemma3n(),
            new Gemma4(),
            new Glm(),
            new Glm4(),
            new Glm4Moe(),
            new Glm53(),
            new Gpt2(),
            new GptBigCode(),
            new GptJ(),
            new GptNeox(),
            new GptOss(),
            new Granite(),
            new GraniteHybrid(),
            new GraniteMoe(),
            new Gte(),
            new Hunyuan(),
            new HyV3(),
            new HyV4(),
            new Jamba(),
            new JinaV3(),
            new KimiLinear(),
            new Lfm2(),
            new Lfm2Moe(),
            new Lfm3(),
            new Ling3(),
            new Llama(),
            new Llama4(),
            new Mamba(),
            new Mamba2(),
            new MiMoV2(),
            new MiniMax01(),
            new MiniMaxM2(),
            new MiniMaxM3(),
            new Mistral(),
            new Mistral3(),
            new Mixtral(),
            new ModernBert(),
            new MpNet(),
            new Mpt(),
            new Nemotron(),
            new NemotronH(),
            new NomicBert(),
            new Olmo2(),
            new Olmo3(),
            new OlmoHybrid(),
            new Olmoe(),
            new Opt(),
            new Phi(),
            new Phi3(),
            new PhiMoe(),
            new Qwen2(),
            new Qwen25Vl(),
            new Qwen2Moe(),
            new Qwen3(),
            new Qwen35(),
            new Qwen3Moe(),
            new Qwen3Next(),
            new Qwen3Vl(),
            new Roberta(),
            new SeedOss(),
            new SmolLm3(),
            new SolarOpen(),
            new StableLm(),
            new Starcoder2(),
            new Step35(),
            new VaultGemma(),
            new Wrapped());

    private Architectures() {}

    /** The decoder that a checkpoint describes; a {@code CheckpointException} names what is not supported. */
    public static Blueprint read(Checkpoint checkpoint) {
        Blueprint blueprint = readAny(checkpoint);
        if (!blueprint.spec().generates()) {
            throw new CheckpointException(checkpoint.config().origin() + ": "
                    + blueprint.spec().architecture()
                    + " is an encoder, which turns texts into vectors and generates none");
        }
        return blueprint;
    }

    /** The same, where an encoder will do as well. */
    public static Blueprint readAny(Checkpoint checkpoint) {
        var config = new ModelConfig(checkpoint);
        Architecture architecture = find(config);
        try {
            config.requireKnownQuantization();
            Blueprint blueprint = architecture.read(config);
            UnreadFields.refuse(config);
            return blueprint;
        } catch (IllegalArgumentException impossible) {
            throw new CheckpointException(config.metadata().origin() + ": " + impossible.getMessage(), impossible);
        }
    }

    /** The names by which checkpoints of a format call the families that are supported. */
    public static Set<String> names(Checkpoint.Format format) {
        var names = new TreeSet<String>();
        for (Architecture architecture : ALL) {
            names.addAll(format == Checkpoint.Format.GGUF ? architecture.ggufNames() : architecture.modelTypes());
        }
        return names;
    }

    private static Architecture find(ModelConfig config) {
        String family = config.family();
        for (Architecture architecture : ALL) {
            if ((config.isGguf() ? architecture.ggufNames() : architecture.modelTypes()).contains(family)) {
                return architecture;
            }
        }
        var format = config.isGguf() ? Checkpoint.Format.GGUF : Checkpoint.Format.HUGGING_FACE;
        throw config.unsupported(
                config.isGguf() ? "general.architecture" : "model_type", family, String.join(", ", names(format)));
    }
}

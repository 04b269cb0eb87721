package roselle.model.config;

import java.util.List;
import java.util.Set;
import roselle.api.CheckpointException;

/**
 * Refuses what a configuration says and nothing read: a field that would change the computation must not be ignored.
 *
 * <p>Only fields known to change nothing (training, generation, bookkeeping) may stay unread.
 */
public final class UnreadFields {
    private static final Set<String> HARMLESS = Set.of(
            "architectures",
            "classifier_activation",
            "classifier_bias",
            "classifier_from_token",
            "is_original_qwen3_reranker",
            "classifier_pooling",
            "decoder_bias",
            "deterministic_flash_attn",
            "initializer_cutoff_factor",
            "sparse_pred_ignore_index",
            "sparse_prediction",
            "gradient_checkpointing",
            "sentence_transformers",
            "pooler_fc_size",
            "pooler_num_attention_heads",
            "pooler_num_fc_layers",
            "pooler_size_per_head",
            "pooler_type",
            "directionality",
            "auto_map",
            "chunk_size_feed_forward",
            "decoder_start_token_id",
            "dropout",
            "dtype",
            "embd_pdrop",
            "attn_pdrop",
            "resid_pdrop",
            "summary_activation",
            "summary_first_dropout",
            "summary_proj_to_labels",
            "summary_type",
            "summary_use_proj",
            "reorder_and_upcast_attn",
            "ep_size",
            "aux_loss_alpha",
            "seq_aux",
            "id2label",
            "label2id",
            "initializer_range",
            "initial_context_length",
            "is_matryoshka",
            "keys_to_ignore_at_inference",
            "matryoshka_dimensions",
            "model_type",
            "n_ctx",
            "num_nextn_predict_layers",
            "num_mtp_layers",
            "mtp_num_hidden_layers",
            "mtp_use_dedicated_embeddings",
            "mamba_ssm_dtype",
            "output_attentions",
            "output_hidden_states",
            "output_router_logits",
            "pretraining_tp",
            "problem_type",
            "return_dict",
            "router_aux_loss_coef",
            "router_jitter_noise",
            "task_specific_params",
            "tokenizer_class",
            "torch_dtype",
            "torchscript",
            "transformers_version",
            "unsloth_fixed",
            "unsloth_version",
            "use_cache",
            "use_bfloat16");
    private static final List<String> HARMLESS_ENDINGS =
            List.of("_dropout", "_dropout_prob", "_token_id", "_token_ids", "_loss_coef");
    private static final Set<String> HARMLESS_KEYS = Set.of(
            "vocab_size",
            "context_length",
            "feed_forward_length",
            "attention.value_length",
            "attention.key_length",
            "attention.layer_norm_epsilon",
            "attention.layer_norm_rms_epsilon",
            "attention.causal",
            "rope.dimension_count",
            "rope.scaling.finetuned",
            "rope.scaling.yarn_beta_fast",
            "rope.scaling.yarn_beta_slow",
            "rope.scaling.yarn_ext_factor",
            "rope.scaling.yarn_attn_factor",
            "tensor_data_layout",
            "pooling_type",
            "normalize_embeddings",
            "classifier.output_labels",
            "classifier.pooling_type",
            "dense_2_feat_in",
            "dense_2_feat_out",
            "dense_3_feat_in",
            "dense_3_feat_out",
            "expert_feed_forward_length",
            "nextn_predict_layers");

    private UnreadFields() {}

    public static void refuse(ModelConfig config) {
        config.parts().forEach(UnreadFields::refuse);
        for (String key : config.metadata().keys()) {
            if (config.metadata().has(key) && !config.read().contains(key) && !isHarmless(config, key)) {
                throw new CheckpointException(config.metadata().origin() + ": " + key
                        + " is not a field that Roselle knows for " + config.family()
                        + "; running the model without it could be wrong");
            }
        }
    }

    private static boolean isHarmless(ModelConfig config, String key) {
        if (config.isGguf()) {
            return !key.startsWith(config.prefix())
                    || HARMLESS_KEYS.contains(key.substring(config.prefix().length()));
        }
        return key.startsWith("_")
                || HARMLESS.contains(key)
                || HARMLESS_ENDINGS.stream().anyMatch(key::endsWith);
    }
}

"""A model that is small enough to train here: made on the spot, and the same each time."""

from transformers import LlamaConfig, LlamaForCausalLM, Olmo2Config, Olmo2ForCausalLM, set_seed

KINDS = {"llama": (LlamaConfig, LlamaForCausalLM), "olmo": (Olmo2Config, Olmo2ForCausalLM)}


def model_of(tokenizer, kind="llama"):
    """A model of one layer that knows nothing, for the words of a tokenizer."""
    config, model = KINDS[kind]
    set_seed(0)
    return model(
        config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )

/** Read LoRA adapters, as PEFT and llama.cpp write them, and find what of a decoder they add to. */
@NullMarked
package roselle.model.adapter;

import org.jspecify.annotations.NullMarked;

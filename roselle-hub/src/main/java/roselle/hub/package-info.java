/** Find models on the Hugging Face hub, download them into its cache, and keep that cache. */
@NullMarked
package roselle.hub;

import org.jspecify.annotations.NullMarked;

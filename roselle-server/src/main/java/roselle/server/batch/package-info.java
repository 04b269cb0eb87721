/** Files of requests and batches of them as OpenAI's API has them, kept in a folder and gone on with after a restart. */
@NullMarked
package roselle.server.batch;

import org.jspecify.annotations.NullMarked;

/** Tell gateways which pages of tokens the engines can find, over ZeroMQ in vLLM's form. */
@NullMarked
package roselle.server.events;

import org.jspecify.annotations.NullMarked;

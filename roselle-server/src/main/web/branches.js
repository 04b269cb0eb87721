// Branches of a conversation: what was written in place of something else, with all that follows it. Nothing is thrown away.
// The first message of a branch carries fork = { tails, shown }: the messages of each branch, null for that on screen.

/** Whether an answer says nothing. */
export function isEmpty(message) {
  return message.content === "" && !message.thoughts && !message.calls;
}

/** The words of messages and the names of their files, of those in other branches too. */
export function* texts(messages) {
  for (const { content, files = [], fork } of messages) {
    yield content;
    yield* files.map((file) => file.name);
    for (const tail of fork?.tails ?? []) {
      yield* texts(tail ?? []);
    }
  }
}

/** Puts aside the messages from a place on; returns the fork for the message that comes there instead, if they were worth it. */
export function setAside(messages, index) {
  const tail = messages.splice(index);
  const fork = tail[0]?.fork;
  if (tail.length === 0 || (tail.length === 1 && isEmpty(tail[0]))) {
    return fork;
  }
  delete tail[0].fork;
  const { tails, shown } = fork ?? { tails: [null], shown: 0 };
  const others = tails.with(shown, tail);
  return { tails: [...others, null], shown: others.length };
}

/** Shows another branch of the fork at a place. */
export function showBranch(messages, index, wanted) {
  const { tails, shown } = messages[index].fork;
  delete messages[index].fork;
  const others = tails.with(shown, messages.splice(index)).with(wanted, null);
  messages.push(...tails[wanted]);
  messages[index].fork = { tails: others, shown: wanted };
}

/** The task as the person gave it: a long run's earlier turns stand behind it in short, and are no words of theirs. */
export function taskText(text: string): string {
  const at = text.indexOf("\n\n[What happened earlier in this task");
  return at < 0 ? text : text.slice(0, at);
}

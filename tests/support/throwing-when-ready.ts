// As a preload: the process that says on its standard output that it is ready throws in a timer right after.
const write = process.stdout.write.bind(process.stdout);

process.stdout.write = (text: string, ...more: never[]) => {
  if (text.includes('"ready":true')) {
    setTimeout(() => {
      throw new Error("an error outside every guard");
    }, 1);
  }
  return write(text, ...more);
};

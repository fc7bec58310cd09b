import type { Language } from "./language.ts";

/** A reason in the languages besides English. */
type ReasonRow = readonly [pt: string, es: string];

/** Reasons of verdicts by their English words; `{name}` stands for what differs from one to the next and stays as it is. */
const REASONS: { readonly [english: string]: ReasonRow } = {
  "it acts with the rights of another user": [
    "age com os direitos de outro usuário",
    "actúa con los derechos de otro usuario",
  ],
  "it runs another command that is hidden in its arguments": [
    "executa outro comando escondido nos argumentos",
    "ejecuta otro comando escondido en sus argumentos",
  ],
  "it runs code of the project or of its packages": [
    "executa código do projeto ou dos pacotes dele",
    "ejecuta código del proyecto o de sus paquetes",
  ],
  "it runs code of the project": ["executa código do projeto", "ejecuta código del proyecto"],
  "it talks to another host": ["fala com outra máquina", "habla con otra máquina"],
  "it talks to another repository": ["fala com outro repositório", "habla con otro repositorio"],
  "it changes the repository, and hooks of the project may run": [
    "muda o repositório, e ganchos do projeto podem ser executados",
    "cambia el repositorio, y pueden ejecutarse ganchos del proyecto",
  ],
  "what it removes does not come back": ["o que remove não volta", "lo que elimina no vuelve"],
  "it changes files": ["muda arquivos", "cambia archivos"],
  "it ends processes": ["encerra processos", "termina procesos"],
  "it may change what is installed": ["pode mudar o que está instalado", "puede cambiar lo que está instalado"],
  "it changes a service of the host": ["muda um serviço da máquina", "cambia un servicio de la máquina"],
  "keys and passwords are never read or written": [
    "chaves e senhas nunca são lidas nem escritas",
    "las claves y contraseñas nunca se leen ni se escriben",
  ],
  "files of that name usually hold passwords or keys": [
    "arquivos com esse nome costumam guardar senhas ou chaves",
    "los archivos con ese nombre suelen guardar contraseñas o claves",
  ],
  "what lies in .git can make git run programs": [
    "o que está em .git pode fazer o git executar programas",
    "lo que está en .git puede hacer que git ejecute programas",
  ],
  "it changes a file of the workspace": [
    "muda um arquivo da área de trabalho",
    "cambia un archivo del área de trabajo",
  ],
  "it changes a file outside the workspace": [
    "muda um arquivo fora da área de trabalho",
    "cambia un archivo fuera del área de trabajo",
  ],
  "the sandbox lets it write nothing and reach no network": [
    "o sandbox não deixa escrever nada nem alcançar a rede",
    "el sandbox no deja escribir nada ni llegar a la red",
  ],
  "it starts processes until the host stops": [
    "inicia processos até a máquina parar",
    "inicia procesos hasta que la máquina se detiene",
  ],
  "it would destroy the host or all that a person has": [
    "destruiria a máquina ou tudo o que uma pessoa tem",
    "destruiría la máquina o todo lo que una persona tiene",
  ],
  "it would erase a disk": ["apagaria um disco", "borraría un disco"],
  "it would write over a disk or the memory": [
    "escreveria por cima de um disco ou da memória",
    "escribiría encima de un disco o de la memoria",
  ],
  "it would stop the host, and the hand with it": [
    "pararia a máquina, e a mão com ela",
    "detendría la máquina, y la mano con ella",
  ],
  "a run may end what it has started": [
    "uma execução pode encerrar o que iniciou",
    "una ejecución puede terminar lo que inició",
  ],
  "a person said that this is always allowed": [
    "uma pessoa disse que isto é sempre permitido",
    "una persona dijo que esto siempre se permite",
  ],
  "the policy of this host forbids what no sandbox holds to the workspace": [
    "a política desta máquina proíbe o que nenhum sandbox prende à área de trabalho",
    "la política de esta máquina prohíbe lo que ningún sandbox retiene en el área de trabajo",
  ],
  "it would go on after the run has ended, so a person decides": [
    "continuaria depois do fim da execução, e por isso uma pessoa decide",
    "seguiría después del fin de la ejecución, y por eso decide una persona",
  ],
  "no sandbox holds the program that would be written to, so a person decides": [
    "nenhum sandbox prende o programa que receberia a entrada, e por isso uma pessoa decide",
    "ningún sandbox retiene el programa que recibiría la entrada, y por eso decide una persona",
  ],
  "no rule covers it, so a person decides": [
    "nenhuma regra trata disso, e por isso uma pessoa decide",
    "ninguna regla lo trata, y por eso decide una persona",
  ],
  "no rule allows it, so a person decides ({rule}: {why})": [
    "nenhuma regra permite, e por isso uma pessoa decide ({rule}: {why})",
    "ninguna regla lo permite, y por eso decide una persona ({rule}: {why})",
  ],
  "rule {rule} says {decision}": ["a regra {rule} diz {decision}", "la regla {rule} dice {decision}"],
  "it names {folder}: Vidro's own state is never given out or changed": [
    "nomeia {folder}: o estado do próprio Vidro nunca é entregue nem mudado",
    "nombra {folder}: el estado del propio Vidro nunca se entrega ni se cambia",
  ],
  "it renames or removes {folder}, which holds that: Vidro's own state is never given out or changed": [
    "renomeia ou remove {folder}, que o contém: o estado do próprio Vidro nunca é entregue nem mudado",
    "renombra o elimina {folder}, que lo contiene: el estado del propio Vidro nunca se entrega ni se cambia",
  ],
  "a shell in the sandbox does not see {file}: read it with read_file, and a person is asked": [
    "um shell no sandbox não vê {file}: leia-o com read_file, e uma pessoa é perguntada",
    "un shell en el sandbox no ve {file}: léalo con read_file, y se pregunta a una persona",
  ],
};

/** The reason of a verdict in a language; the words of rules that people wrote stay as they are. */
export function reasonWords(reason: string, language: Language): string {
  if (language === "en") return reason;
  const column = language === "pt" ? 0 : 1;
  const exact = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
  if (exact !== undefined) return exact[column];
  for (const [pattern, row] of PATTERNS) {
    const found = pattern.exec(reason);
    if (found !== null) return row[column].replaceAll(VALUE, (whole, name: string) => found.groups?.[name] ?? whole);
  }
  return reason;
}

const VALUE = /\{(\w+)\}/g;

/** The reasons that hold a value, each as a pattern that finds it. */
const PATTERNS: readonly (readonly [pattern: RegExp, row: ReasonRow])[] = Object.entries(REASONS)
  .filter(([english]) => english.includes("{"))
  .map(([english, row]) => {
    const plain = english.replaceAll(/[.()]/g, String.raw`\$&`);
    return [new RegExp(`^${plain.replaceAll(VALUE, "(?<$1>.+?)")}$`, "s"), row] as const;
  });

/*
 * Words about files, in the three languages at once: verbs and nouns differ enough not to be mistaken for each other.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Names of a file. */
export const FILE_NOUNS = words(
  "file files document documents arquivo arquivos ficheiro ficheiros archivo archivos fichero ficheros documentos",
);

/** Names of a folder and of what is in it. */
export const FOLDER_NOUNS = words(
  `folder folders directory directories dir content contents inside here subfolders project workspace tree
   pasta pastas diretorio diretorios conteudo dentro aqui projeto carpeta carpetas directorio directorios contenido proyecto`,
);

/** Size in the superlative. */
export const SIZE_WORDS = words(
  "largest biggest heaviest big large huge bigger larger maior maiores grande grandes pesado pesados mayor mayores",
);

/** What goes along with a question about size. */
export const SIZE_COMPANIONS = words(
  "top disk space size sizes disco espaco espacio tamanho tamano occupy occupying ocupam ocupando ocupan ocupa ten five",
);

/** Verbs of looking for something. */
export const FIND_VERBS = words(
  `find locate search look where grep lookup procure procurar procura busque buscar busca ache achar encontre encontrar
   localize localizar onde encuentra encuentre localiza donde`,
);

/** Those of them that look into files rather than at their names. */
export const SEARCH_VERBS = words("search look grep procure procurar procura busque buscar busca");

/** Words that lead to the name of a file. */
export const NAME_WORDS = words(
  `named called name names matching match ending end ends extension with pattern chamado chamados chamada chamadas nome
   nomes terminados terminam extensao padrao llamado llamados llamada llamadas nombre nombres terminados terminan extension patron`,
);

/** Words that say that a text inside of files is meant. */
export const TEXT_WORDS = words(
  `contains contain containing mention mentions mentioned mentioning occurrence occurrences text word string phrase line
   lines code appears appear defined contem contenham contendo menciona mencionam mencionem aparece aparecem texto palavra
   linhas linha codigo ocorrencias contiene contienen contengan mencionan mencionen aparecen palabra lineas linea ocurrencias`,
);

/** Verbs of reading. */
export const READ_VERBS = words(
  `read open cat show view print display see leia ler abra abrir mostre mostra mostrar exiba imprima veja lee leer abre
   muestra muestrame imprime ensename`,
);

/** Verbs and questions of listing. */
export const LIST_VERBS = words(
  "list ls show what which liste listar lista mostre mostra quais que lista muestra muestrame cuales ver see",
);

/** Kinds of files that go by the name of their content. */
export const FILE_KINDS: ReadonlyMap<string, string> = new Map([
  ["markdown", "*.md"],
  ["typescript", "*.ts"],
  ["javascript", "*.js"],
  ["python", "*.py"],
  ["rust", "*.rs"],
  ["go", "*.go"],
  ["java", "*.java"],
  ["json", "*.json"],
  ["yaml", "*.y*ml"],
  ["log", "*.log"],
  ["logs", "*.log"],
  ["pdf", "*.pdf"],
  ["pdfs", "*.pdf"],
  ["csv", "*.csv"],
  ["png", "*.png"],
  ["html", "*.html"],
  ["css", "*.css"],
  ["sql", "*.sql"],
]);

/** Words that make a sentence one about a repository. */
export const GIT_NOUNS = words("git repo repository repositorio commits branch branches rama ramas ramo ramos");

/** Words that go along with a repository. */
export const GIT_COMPANIONS = words(
  `commit commits log history latest last recent status state clean dirty diff changed changes change modified uncommitted
   unstaged staged untracked pending working tree changing historico ultimo ultimos ultima ultimas recentes mudou mudaram
   mudancas alteracoes alterado alterados modificado modificados pendentes limpo historial recientes cambio cambios cambiado
   cambiaron cambiando pendientes limpio folder pasta carpeta projeto proyecto project files arquivos archivos fiz feitos hechos feito
   ten five three dez cinco tres diez cinco on yet`,
);

/** Verbs that change a repository. */
export const GIT_EFFECTS = words(
  "push pull merge checkout clone rebase reset stash fetch cherry-pick tag revert init envie suba sube haz faca squash",
);

import type { Language } from "@vidro/core/text";

/*
 * Words that carry no topic. All are lower case without accents, as plain text is.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words that say nothing about the topic, by language; they also tell the languages apart. */
export const STOP_WORDS: { readonly [L in Language]: ReadonlySet<string> } = {
  en: words(`a an the is are was were be been am do does did have has had i im me my we our you your it its this that
    these those there here what whats which who how when where why of in on at to from for with by about into over
    than then and or not no any some all much many more most very just please can could would will should tell show
    give get see know want need now currently current right still left so if as up out also us them they per each
    kind sort way look check display print view list find got too every being using used use uses
    enough anything something anyone somebody under within inside
    exactly roughly quickly today lately recently going happening take takes taking run running`),
  pt: words(`o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para pra com sem sobre e ou que
    qual quais quanto quanta quantos quantas quem como quando onde ha tem tenho temos esta estao estou ser sao foi eu
    me meu minha meus minhas nosso nossa seu sua voce isso isto este esse essa aqui ali mais menos muito muita mostre
    mostra mostrar mostra-me diga diz liste lista favor agora atual atualmente hoje ver quero preciso saber ainda
    ao aos neste nesta nesse dessa deste desta nele dele meio tudo todos todas todo toda existem existe sendo so
    nao algo alguem alguma algum daqui suficiente
    usa usam usando usado usada utilizam tenha fica gostaria pode poderia verifique veja cada la comigo eles`),
  es: words(`el la los las lo un una unos unas de del en por para con sin sobre y e o u que cual cuales cuanto cuanta
    cuantos cuantas quien quienes como cuando donde hay tiene tengo tenemos esta estan estoy ser son fue yo me mi mis
    nuestro nuestra su tu este esta esto ese esa eso aqui ahi alli mas menos mucho mucha muestra muestrame mostrar
    dime lista favor ahora actual actualmente hoy ver quiero necesito saber aun todavia al cada todo todos todas toda
    algo alguien algun alguna suficiente
    existen existe siendo se le nos usa usan usando usado usada utilizan puedes podrias verifica mira ensename dame
    es soy estas sea`),
};

/** Words that fit any question about a machine and add nothing to it. */
export const GENERIC_WORDS = words(`machine computer server host system box laptop pc vm container local linux vidro
  maquina computador servidor sistema notebook local ordenador equipo computadora
  total amount number overall info information details detail summary state status figures value values percent percentage
  quantidade numero informacao informacoes detalhes resumo estado situacao valor porcentagem
  cantidad numero informacion detalles resumen estado situacion porcentaje
  me hey ok okay thanks thank obrigado obrigada gracias ola hola oi hi hello
  momento moment active ativo ativa ativos activas activo activa activos level nivel`);

/**
 * Words that ask for something that these rules cannot do: one of them, and the task is not understood, so that
 * "write a poem about disks" measures no disk and "delete the largest files" does not pretend to have helped.
 */
export const FOREIGN_WORDS = words(`write compose create make generate delete remove erase wipe install uninstall kill
  stop restart reboot shutdown shut draw paint translate summarize summarise explain fix repair refactor implement
  deploy build buy sell send email mail rename move copy upgrade update change modify edit replace patch add poem song
  story joke essay recipe weather convert calculate compare recommend suggest download upload close clean clear mount
  unmount encrypt compress sing play teach learn design invent imagine web internet online google bitcoin chmod chown
  escreva escrever escreve crie criar cria gere gerar apague apagar apaga delete deletar remova remover instale instalar
  mate matar pare parar reinicie reiniciar desligue desligar formate formatar desenhe desenhar traduza traduzir resuma
  resumir explique explicar corrija corrigir conserte implemente implementar compre comprar envie enviar renomeie
  renomear mova mover copie copiar atualize atualizar mude mudar altere alterar edite editar poema cancao piada
  historia receita clima converta calcule calcular compare libere liberar limpe limpar baixe baixar feche fechar
  escribe escribir escribeme haz hacer crea crear genera borra borrar elimina eliminar quita instala instalar matar
  deten detener para-lo reinicia reiniciar apaga apagar formatea dibuja dibujar traduce traducir resume resumir explica
  explicame corrige arregla arreglar implementa compra comprar envia enviar renombra mueve mover copia copiar
  actualiza actualizar cambia cambiar edita editar cancion cuento chiste receta convierte calcula compara libera
  liberar limpia limpiar descarga descargar cierra cerrar`);

/** Orders that are foreign only as a whole. */
export const FOREIGN_PHRASES =
  /\b(free up|make room|get rid of|set up|turn off|switch to|a new|um novo|uma nova|un nuevo|una nueva)\b/;

/** Verbs that tell the languages apart and are too telling of a topic to be stop words. */
export const VERBS: { readonly [L in Language]: ReadonlySet<string> } = {
  en: words("run execute read open search grep cat locate"),
  pt: words(
    "rode roda rodar executa executar leia ler abra abrir procure procurar busque encontre ache localize exiba obrigado obrigada",
  ),
  es: words("ejecuta ejecutar ejecute corre lee leer abre busca encuentra localiza ensena lanza gracias"),
};

/** Spellings that belong to one language only, accents and all. */
export const TELLTALES: { readonly [L in Language]: RegExp } = {
  en: /\b(the|what|which|how|who|is|are|show|find|with)\b/giu,
  pt: /[ãõçêôâà]|(?<!\p{L})(é|há|você|memória|diretório|usuário|último|últimos|arquivos?|qual|quais|não)(?!\p{L})/giu,
  es: /[ñ¿¡]|(?<!\p{L})(qué|cuál|cuáles|cuánt[oa]s?|cómo|dónde|quién|más|según|memoria|últimos|el|los|las|archivos|y)(?!\p{L})/giu,
};

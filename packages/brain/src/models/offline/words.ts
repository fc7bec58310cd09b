import type { Language } from "@vidro/core/text";

/*
 * Words that carry no topic. All are lower case without accents, as plain text is.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words that say nothing about the topic, by language. */
export const STOP_WORDS: { readonly [L in Language]: ReadonlySet<string> } = {
  en: words(`a an the is are was were be been am do does did have has had i im me my we our you your it its this that
    these those there here what whats which who how when where why of in on at to from for with by about into over
    than then and or not no any some all much many more most very just please can could would will should tell show
    give get see know want need now currently current right still left so if as up out also us them they per each
    kind sort way look check display print view list find got too every being using used use uses
    enough anything something anyone somebody under within inside
    exactly roughly quickly today lately recently going happening take takes taking run running around ever let
    things thing stuff doing whole sure anyway maybe actually really worth whether sufficient remaining could plus worry worried care might may must shall happy curious wonder
    dont cant whose whos im ive ill pls plz hey else own yet already both same its thats
    but because since while during before after again once only even though through against between without upon off down
    he she him her his hers they them their theirs myself yourself itself ourselves themselves such few several other
    another either neither nor isnt arent wasnt doesnt didnt hasnt havent wont wouldnt couldnt theres youre were wed id
    lets gonna wanna gotta ones one im theyre hows wheres whens until till per via unto amid among across behind beyond
    wondering wondered mind kindly appreciate happen happens chance trying figure btw cheers mate folks asap interested making honestly basically`),
  pt: words(`o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para pra com sem sobre e ou que
    qual quais quanto quanta quantos quantas quem como quando onde ha tem tenho temos esta estao estou ser sao foi eu
    me meu minha meus minhas nosso nossa seu sua voce isso isto este esse essa aqui ali mais menos muito muita mostre
    mostra mostrar mostra-me diga diz liste lista favor agora atual atualmente hoje ver quero preciso saber ainda
    ao aos neste nesta nesse dessa deste desta nele dele meio tudo todos todas todo toda existem existe sendo so
    nao algo alguem alguma algum daqui suficiente
    ta to tou estao e ai la num numa dum duma dele deles pelos pelas entre ate desde faz fazer vc vcs pfv consigo consegue coisas coisa poderia checa cheque continua sob ja foi embora tudo entao passa delas deles devo deve deveria posso podemos preocupar preciso precisa quero queria dá da sera seria
    
    usa usam usando usado usada utilizam tenha fica gostaria pode poderia verifique veja cada la comigo eles
    desse nessa nesse nesses nessas nestes nestas naquele naquela naqueles aquele aquela aqueles aquelas aquilo nisso nisto disso
    disto desses dessas destes destas daquele daquela esses essas estes estas isso ele ela elas nos nossos nossas teu tua
    seus suas lhe lhes se si comigo contigo conosco mas porem pois porque embora enquanto antes depois durante apenas
    somente tambem nem qualquer quaisquer outro outra outros outras mesmo mesma mesmos tal tais tao pouco pouca bem mal
    sempre hein ne tipo assim entao logo pro pros pras vou vai vamos va estava esteja estejam estar estou estamos sou somos
    era eram seja sejam tinha haja houve
    gentileza curioso curiosidade sabe sabes dizer saberia olhada olhadinha rapidinho valeu blz beleza cara afinal acaso sera`),
  es: words(`el la los las lo un una unos unas de del en por para con sin sobre y e o u que cual cuales cuanto cuanta
    cuantos cuantas quien quienes como cuando donde hay tiene tengo tenemos esta estan estoy ser son fue yo me mi mis
    nuestro nuestra su tu este esta esto ese esa eso aqui ahi alli mas menos mucho mucha muestra muestrame mostrar
    dime lista favor ahora actual actualmente hoy ver quiero necesito saber aun todavia al cada todo todos todas toda
    algo alguien algun alguna suficiente
    existen existe siendo se le nos usa usan usando usado usada utilizan puedes podrias verifica mira ensename dame
    es soy estas sea q porfa estos esos esas aquel aquella aquellos aquellas aquello el ella ello nosotros
    vosotros ustedes usted ti si os nuestros nuestras vuestro vuestra tus pero porque pues aunque mientras antes despues
    durante solo solamente tampoco ni cualquier cualquiera otro otra otros otras mismo misma mismos tal tales tanto tanta
    poco poca bien mal siempre vamos estaba este esten estar estamos somos era eran sean habia haya hubo hemos habeis pa porfavor oye aca les sus hace hacer desde hasta entre tambien he ha has han va voy cosas cosa fijate chequea bajo podrias comprueba ya ido ellos ellas tan asi entonces pasame sigue debo debe deberia puedo puede podemos preocuparme quisiera seria sera casi
    pregunto preguntaba gustaria podria sabes sabrias decir decirme curiosidad vistazo echa echar rapidito venga vale quiza acaso`),
};

/** Words that fit any question about a machine and add nothing to it. */
const GENERIC_WORDS = words(`machine computer server host system box laptop pc vm container local linux
  maquina computador servidor sistema notebook local ordenador equipo computadora
  total amount number overall info information details detail summary state status figures value values percent percentage
  quantidade numero informacao informacoes detalhes resumo estado situacao valor porcentagem
  cantidad numero informacion detalles resumen estado situacion porcentaje
  me hey ok okay thanks thank obrigado obrigada gracias ola hola oi hi hello
  momento moment active ativo ativa ativos activas activo activa activos level nivel`);

/** Whether a word carries no topic in any of the languages. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.en.has(word) || STOP_WORDS.pt.has(word) || STOP_WORDS.es.has(word);
}

/** Whether a word fits any question about a machine. */
export function isGenericWord(word: string): boolean {
  return isStopWord(word) || GENERIC_WORDS.has(word);
}

/* Exceptions of the English tokenizer of spaCy 3.8.18 (https://github.com/explosion/spaCy, MIT licence):
 * words that it cuts otherwise than by its rules. ` stands where a word is cut. Made by
 * benchmarks/spacy_exceptions.py. */

/* Also with a capital, and with ’. */
static const char english_with_variants[] =
    "ai`n't ai`nt are`n't are`nt c'm`on ca`n't ca`n't`'ve ca`nt ca`nt`ve can`not co. could`'ve could`n't "
    "could`n't`'ve could`nt could`nt`ve could`ve dare`n't dare`nt did`n't did`n't`'ve did`nt did`nt`ve "
    "do`n't do`n't`'ve do`nt do`nt`ve does`n't does`n't`'ve does`nt does`nt`ve doin doin' e.g. goin goin' "
    "gon`na got`ta had`n't had`n't`'ve had`nt had`nt`ve has`n't has`nt have`n't have`nt havin havin' "
    "he`'d he`'d`'ve he`'ll he`'ll`'ve he`'s he`d he`d`ve he`ll`ve he`s how`'d how`'d`'ve how`'d`'y "
    "how`'ll how`'ll`'ve how`'re how`'s how`'ve how`d how`d`ve how`ll how`ll`ve how`re how`s how`ve i.e. "
    "i`'d i`'d`'ve i`'ll i`'ll`'ve i`'m i`'m`a i`'ve i`d i`d`ve i`ll`ve i`m i`m`a i`ve is`n't is`nt it`'d "
    "it`'d`'ve it`'ll it`'ll`'ve it`'s it`d it`d`ve it`ll it`ll`ve let`'s lovin lovin' ma'am may`n't "
    "may`n't`'ve may`nt may`nt`ve might`'ve might`n't might`n't`'ve might`nt might`nt`ve might`ve "
    "must`'ve must`n't must`n't`'ve must`nt must`nt`ve must`ve need`n't need`n't`'ve need`nt need`nt`ve "
    "not`'ve not`ve nothin nothin' nuthin nuthin' o'clock ol ol' ought`n't ought`n't`'ve ought`nt "
    "ought`nt`ve sha`n't sha`n't`'ve sha`nt sha`nt`ve she`'d she`'d`'ve she`'ll she`'ll`'ve she`'s "
    "she`d`ve she`ll`ve she`s should`'ve should`n't should`n't`'ve should`nt should`nt`ve should`ve "
    "somethin somethin' that`'d that`'d`'ve that`'ll that`'ll`'ve that`'s that`d that`d`ve that`ll "
    "that`ll`ve that`s there`'d there`'d`'ve there`'ll there`'ll`'ve there`'re there`'s there`'ve there`d "
    "there`d`ve there`ll there`ll`ve there`re there`s there`ve these`'d these`'d`'ve these`'ll "
    "these`'ll`'ve these`'re these`'ve these`d these`d`ve these`ll these`ll`ve these`re these`ve they`'d "
    "they`'d`'ve they`'ll they`'ll`'ve they`'re they`'ve they`d they`d`ve they`ll they`ll`ve they`re "
    "they`ve this`'d this`'d`'ve this`'ll this`'ll`'ve this`'s this`d this`d`ve this`ll this`ll`ve this`s "
    "those`'d those`'d`'ve those`'ll those`'ll`'ve those`'re those`'ve those`d those`d`ve those`ll "
    "those`ll`ve those`re those`ve was`n't was`nt we`'d we`'d`'ve we`'ll we`'ll`'ve we`'re we`'ve we`d "
    "we`d`ve we`ll`ve we`ve were`n't were`nt what`'d what`'d`'ve what`'ll what`'ll`'ve what`'re what`'s "
    "what`'ve what`d what`d`ve what`ll what`ll`ve what`re what`s what`ve when`'d when`'d`'ve when`'ll "
    "when`'ll`'ve when`'re when`'s when`'ve when`d when`d`ve when`ll when`ll`ve when`re when`s when`ve "
    "where`'d where`'d`'ve where`'ll where`'ll`'ve where`'re where`'s where`'ve where`d where`d`ve "
    "where`ll where`ll`ve where`re where`s where`ve who`'d who`'d`'ve who`'ll who`'ll`'ve who`'re who`'s "
    "who`'ve who`d who`d`ve who`ll who`ll`ve who`s who`ve why`'d why`'d`'ve why`'ll why`'ll`'ve why`'re "
    "why`'s why`'ve why`d why`d`ve why`ll why`ll`ve why`re why`s why`ve wo`n't wo`n't`'ve wo`nt wo`nt`ve "
    "would`'ve would`n't would`n't`'ve would`nt would`nt`ve would`ve you`'d you`'d`'ve you`'ll "
    "you`'ll`'ve you`'re you`'ve you`d you`d`ve you`ll you`ll`ve you`re you`ve ";

static const char english_as_they_are[] =
    "'Cause 'Cos 'Coz 'Cuz 'S 'bout 'cause 'cos 'coz 'cuz 'd 'em 'll 'nuff 're 's 10`a.m. 10`am 10`p.m. "
    "10`pm 11`a.m. 11`am 11`p.m. 11`pm 12`a.m. 12`am 12`p.m. 12`pm 1`a.m. 1`am 1`p.m. 1`pm 2`a.m. 2`am "
    "2`p.m. 2`pm 3`a.m. 3`am 3`p.m. 3`pm 4`a.m. 4`am 4`p.m. 4`pm 5`a.m. 5`am 5`p.m. 5`pm 6`a.m. 6`am "
    "6`p.m. 6`pm 7`a.m. 7`am 7`p.m. 7`pm 8`a.m. 8`am 8`p.m. 8`pm 9`a.m. 9`am 9`p.m. 9`pm :’( :’) :’-( "
    ":’-) Adm. Ak. Ala. Apr. Ariz. Ark. Aug. Bros. Calif. Colo. Conn. Corp. D.C. Dec. Del. Dr. E.G. Feb. "
    "Fla. Ga. Gen. Gov. I.E. Ia. Id. Ill. Inc. Ind. Jan. Jr. Jul. Jun. Kan. Kans. Ky. La. Ltd. Mar. Mass. "
    "Md. Messrs. Mich. Minn. Miss. Mo. Mont. Mr. Mrs. Ms. Mt. N.C. N.D. N.H. N.J. N.M. N.Y. Neb. Nebr. "
    "Nev. Nov. Oct. Okla. Ore. Pa. Ph.D. Prof. Rep. Rev. S.C. Sen. Sep. Sept. St. Tenn. Va. Wash. Wis. "
    "a.m. and/or em ll nuff p.m. v.s. vs. w/o y'`all y`all y’`all ‘S ‘s ’ ’Cause ’Cos ’Coz ’Cuz ’S ’bout "
    "’cause ’cos ’coz ’cuz ’d ’em ’ll ’nuff ’re ’s ’’ ";

/* Also of all other languages. */
static const char of_all_languages[] =
    "' '' (*_*) (-8 (-: (-; (-_-) (._.) (: (; (= (>_<) (^_^) (o: (¬_¬) (ಠ_ಠ) (╯°□°）╯︵┻━┻ )-: ): -_- -__- "
    "._. 0.0 0.o 0_0 0_o 8) 8-) 8-D 8D :'( :') :'-( :'-) :( :(( :((( :() :) :)) :))) :* :-( :-(( :-((( "
    ":-) :-)) :-))) :-* :-/ :-0 :-3 :-> :-D :-O :-P :-X :-] :-o :-p :-x :-| :-} :/ :0 :1 :3 :> :D :O :P "
    ":X :] :o :o) :p :x :| :} ;) ;-) ;-D ;D ;_; <.< </3 <3 <33 <333 =( =) =/ =3 =D =[ =] =| >.< >.> >:( "
    ">:o ><(((*> @_@ C++ O.O O.o O_O O_o V.V V_V XD XDD [-: [: [= \\\") \\n \\t ]= ^_^ ^__^ ^___^ a. b. c. d. "
    "e. f. g. h. i. j. k. l. m. n. o. o.0 o.O o.o o_0 o_O o_o p. q. r. s. t. u. v. v.v v_v w. x. xD xDD "
    "y. z. ¯\\(ツ)/¯ °`C`. °`F`. °`K`. °`c`. °`f`. °`k`. ä. ö. ü. ಠ_ಠ ಠ︵ಠ — ";

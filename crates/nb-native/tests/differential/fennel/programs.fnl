;; Small programs, and how they fail.

;;## nothing
;;## the last form is the result
1
:two
[3]
;;## a form without a value
(local x 1)
;;## variables
[parameters.name (length parameters.list) (= (. parameters.list 2) json.null) parameters.list parameters.empty parameters.none]
;;## json
[(json.encode [1 {:a []}]) (json.decode "[1,2.5,null]") (json.array []) (json.encode (json.array))]
;;## nb
[(nb.call :echo {:a 1}) (pcall nb.call :refuse) (nb.kv.get :key)]
;;## an uncaught refusal
(fn ask [what]
  (nb.call what {}))

(ask :refuse)
;;## print
(print :a 1 nil true :b)
(print (fennel.view [1 2]))
;;## fizz and buzz
(fcollect [i 1 15]
  (case (values (% i 3) (% i 5))
    (0 0) :fizzbuzz
    (0 _) :fizz
    (_ 0) :buzz
    _ i))
;;## fibonacci
(fn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(icollect [_ n (ipairs [0 1 10 15])] (fib n))
;;## the greatest common divisor
(fn gcd [a b] (if (= b 0) a (gcd b (% a b))))
[(gcd 48 18) (gcd 17 5) (gcd -12 8) (gcd 0 5)]
;;## map, filter, reduce
(fn map [f t] (icollect [_ x (ipairs t)] (f x)))
(fn filter [f t] (icollect [_ x (ipairs t)] (when (f x) x)))
(fn reduce [f acc t] (accumulate [acc acc _ x (ipairs t)] (f acc x)))
(->> [1 2 3 4 5 6] (filter #(= 0 (% $ 2))) (map #(* $ $)) (reduce #(+ $1 $2) 0))
;;## composition
(fn compose [...] (let [fs [...]] (fn [x] (accumulate [x x _ f (ipairs fs)] (f x)))))
((compose #(+ $ 1) #(* $ 2) tostring) 5)
;;## words are counted
(local counts {})
(each [word (string.gmatch "a b a c b a" "%a")]
  (tset counts word (+ 1 (or (. counts word) 0))))
(local words (icollect [w n (pairs counts)] (.. w n)))
(table.sort words)
words
;;## quicksort
(fn sort [t]
  (case t
    [p & rest] (let [(small large) (accumulate [(s l) (values [] []) _ x (ipairs rest)]
                                     (do (table.insert (if (< x p) s l) x) (values s l)))
                     out (sort small)]
                 (table.insert out p)
                 (icollect [_ x (ipairs (sort large)) &into out] x))
    _ []))
(sort [3 1 4 1 5 9 2 6])
;;## a class
(local Stack {})
(set Stack.__index Stack)
(fn Stack.new [] (setmetatable {:items []} Stack))
(fn Stack.push [self x] (table.insert self.items x) self)
(fn Stack.pop [self] (table.remove self.items))
(local s (Stack.new))
(-> s (: :push 1) (: :push 2))
[(s:pop) (s:pop) (or (s:pop) :empty)]
;;## closures in loops
(local fs (fcollect [i 1 3] (fn [] (* i 10))))
(icollect [_ f (ipairs fs)] (f))
;;## a counter
(fn counter []
  (var n 0)
  (fn [] (set n (+ n 1)) n))
(local (a b) (values (counter) (counter)))
[(a) (a) (b)]
;;## coroutines
(local gen (coroutine.wrap (fn [] (for [i 1 3] (coroutine.yield (* i i))) :end)))
[(gen) (gen) (gen) (gen)]
;;## yielding across pcall
(local co (coroutine.wrap #(pcall (fn [] (+ 1 (coroutine.yield :out))))))
[(co) (co 41)]
;;## an uncaught error out of a coroutine
(local co (coroutine.wrap
            (fn []
              (local t nil)
              t.x)))
(co)
;;## memoised
(local memo {})
(fn f [n]
  (or (. memo n)
      (let [r (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))]
        (tset memo n r)
        r)))
(f 80)
;;## a binary tree
(fn insert [tree x]
  (case tree
    nil {:value x}
    (where {: value} (< x value)) (do (set tree.left (insert tree.left x)) tree)
    _ (do (set tree.right (insert tree.right x)) tree)))
(fn walk [tree out]
  (when tree
    (walk tree.left out)
    (table.insert out tree.value)
    (walk tree.right out))
  out)
(walk (accumulate [tree nil _ x (ipairs [5 2 8 1 9 3])] (insert tree x)) [])
;;## metamethods
(local meta {:__add (fn [a b] (+ a.n b.n)) :__call (fn [self x] (* self.n x)) :__tostring (fn [self] (.. "n" self.n))})
(fn of [n] (setmetatable {: n} meta))
[(+ (of 1) (of 2)) ((of 3) 4) (tostring (of 5))]
;;## error values
(local show (require :show))
[(show (pcall error [1 2])) (show (pcall error :text 0)) (show (pcall #(error :here))) (show (xpcall #(error :x 0) #(.. :handled- $)))]
;;## an uncaught table
(error {:message "from a table"})
;;## an uncaught error in the middle of an expression
(local x 5)
(let [y nil]
  (+ x
     (* 2
        y)))
;;## an uncaught error in a nested function
(fn outer []
  (fn inner [t]
    (+ t.a 1))
  (inner {}))
(outer)
;;## an uncaught error in each
(each [_ x (ipairs [1 2 :x])]
  (print x)
  (+ x {}))
;;## an uncaught error in a match
(match [1 2]
  [a b] (a b))
;;## an uncaught error in a threading macro
(-> {}
    (. :a)
    (. :b))
;;## an uncaught error in a macro's code
(import-macros {: unless} :macros)
(local t nil)
(unless false
  (t.call 1))
;;## an uncaught call of nil
(local f nil)
(f 1 2)
;;## an uncaught call of a global that is not there
(nothing-here 1)
;;## an uncaught comparison
(< 1 :x)
;;## an uncaught concatenation
(.. "a" nil)
;;## an uncaught arithmetic on a missing field
(local config {:size {}})
(* config.size.width 2)
;;## the error function with a level
(fn check [x]
  (when (not x)
    (error "x is missing" 2)))
(fn user []
  (check nil)
  1)
(user)
;;## a parenthesis that is not closed
(+ 1
   (* 2 3)
;;## a parenthesis too many
(+ 1 2))
;;## a bracket that does not fit
[1 2)
;;## a string that is not closed
(print "abc)
;;## let without pairs
(let [a] a)
;;## let without a body
(let [a 1])
;;## fn without parameters
(fn)
;;## a special form as a value
(local x if)
;;## a call of a number
(5 1)
;;## a call of nothing
()
;;## an unknown escape
"\q"
;;## a table with an odd count
{:a 1 :b}
;;## a binding that is no symbol
(let [5 1] 5)
;;## a special form that is shadowed
(local let 5)
;;## a macro that is shadowed
(let [when 5] when)
;;## a symbol with a wrong dot
(local a {})
(print a.)
;;## a symbol that ends with a colon
(print a:)
;;## a method as a value
(local s "x")
(local f s:upper)
;;## a for without a range
(for [i] i)
;;## an unless that does not exist
(unless false 1)
;;## a catch in the wrong place
(case-try 1 (catch _ 1) 2)
;;## vararg as a name
(let [... 1] 1)
;;## a local that is declared twice
(local a 1)
(local a 2)
a
;;## a var that a function sets
(var n 0)
(fn up [] (set n (+ n 1)))
(up) (up)
n
;;## a nested quote
(macro m [x] `(fn [y#] (+ y# ,x)))
((m 5) 6)
;;## string functions
[(string.format "%05.1f|%-5s|%x" 3.14159 :ab 255) (string.rep "ab" 3 "-") (string.gsub "hello" "l" {:l "L"}) (string.match "k=v" "(%w)=(%w)")]
;;## string functions with wrong arguments
(local try (require :try))
(try string.rep ["x" -1] [] ["x" {}] [nil])
;;## table functions
(local t [3 1 2])
(table.sort t #(> $1 $2))
(table.insert t 1 :first)
[(table.concat t ",") (table.unpack t) (table.remove t 1)]
;;## math and integers
[(// 7 2) (// -7 2) (% -7 3) (// 7 2.0) (math.floor 3.7) (math.type (/ 4 2)) (+ math.maxinteger 1) (^ 2 0.5)]
;;## an uncaught division by zero
(local zero 0)

(// 1 zero)
;;## utf8
[(utf8.len "日本") (utf8.char 233 0x20AC) (icollect [_ c (utf8.codes "aé")] c)]
;;## numbers as text
[(.. 1 "") (.. 1.0 "") (.. 1e100 "") (tostring -0.0) (tonumber "0x10") (tonumber "z" 36)]
;;## deep recursion
(fn f [n] (+ 1 (f (+ n 1))))
(f 1)
;;## collectgarbage and weak tables
(local weak (setmetatable [] {:__mode :v}))
(tset weak 1 {})
(collectgarbage)
(length weak)
;;## load
(local f (load "return x + 1" "=loaded" :t {:x 5}))
[(f) (pcall (load "error('here')" "=loaded"))]
;;## a large table
(local t {})
(for [i 1 1000] (tset t i (* i i)))
(accumulate [sum 0 _ x (ipairs t)] (+ sum x))
;;## a long program
(var total 0)
(fn step [n] (set total (+ total n)))
(step 1) (step 2) (step 3) (step 4) (step 5) (step 6) (step 7) (step 8) (step 9) (step 10)
(local parts [])
(each [_ word (ipairs [:alpha :beta :gamma])]
  (let [upper (string.upper word)
        head (upper:sub 1 1)
        tail (word:sub 2)]
    (table.insert parts (.. head tail))))
{: total :words (table.concat parts " ")}
;;## many locals
(local (a b c d e) (values 1 2 3 4 5))
(local [f g & h] [6 7 8 9])
(local {:x {: y} &as all} {:x {:y 10}})
[a b c d e f g h y (length [all])]
;;## &as
(let [[a b &as whole] [1 2 3]
      {:k v &as t} {:k 5}]
  [a b (length whole) v t.k])
;;## destructuring of nothing
(let [[a b] [] {: c} {}] [(= a nil) (= b nil) (= c nil)])
;;## an uncaught destructuring of nil
(let [[a] nil]
  a)
;;## nested functions with the same names
(fn a [x] (fn a [y] (+ x y)) (a 10))
(a 5)
